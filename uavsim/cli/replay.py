"""``uavsim replay``: recorded motion shown again, with other sensors, another weather, or without an actor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.generate import (
    CheckOption,
    DryRunOption,
    JsonOption,
    RunOption,
    SimulatorOption,
    run_request,
)
from uavsim.config.library import Library

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(name="replay")(replay)


def replay(
    folder: Annotated[Path, typer.Argument(help="The data set that was recorded.")],
    *,
    out: Annotated[str, typer.Option(help="Folder of the new data set, or an object store's URL.")],
    scenes: Annotated[str | None, typer.Option(help="Numbers in the data set, 0-4,7; default: all.")] = None,
    rig: Annotated[str | None, typer.Option(help="Another rig, by name or YAML file.")] = None,
    sensors: Annotated[str | None, typer.Option(help="Sensors to add to every drone: +lidar,+depth.")] = None,
    weather: Annotated[str | None, typer.Option(help="Another weather, by name or YAML file.")] = None,
    formation: Annotated[str | None, typer.Option(help="Another formation; the drones fly anew.")] = None,
    topology: Annotated[str | None, typer.Option(help="Another set-up: carla, bridge, merged or a plug-in's.")] = None,
    hide: Annotated[
        list[str] | None, typer.Option(help="Without this actor (instance id or blueprint) or class; repeat for more.")
    ] = None,
    simulator: SimulatorOption = None,
    run: RunOption = None,
    check: CheckOption = True,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the recorded scenes of a data set again, changed; what was interrupted continues."""
    from uavsim.flows.replay import request_of_recordings

    config = Library.of().run(run).model if run else None
    request = request_of_recordings(
        folder,
        out,
        scenes=scenes,
        sensors=sensors,
        hide=tuple(hide or ()),
        changes={"formation": formation, "rig": rig, "weather": weather, "topology": topology},
        simulators=tuple(simulator or ()),
        run=config,
    )
    run_request(request.model_copy(update={"check": check}), dry_run=dry_run, as_json=as_json)
