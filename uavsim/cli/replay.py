"""``uavsim replay`` and ``twins``: render recorded motion again with changes."""

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.generate import run_request
from uavsim.cli.options import (
    CheckOption,
    DryRunOption,
    FormationOption,
    JsonOption,
    RigOption,
    RunOption,
    SimulatorOption,
    TopologyOption,
    WeatherOption,
    run_config,
)
from uavsim.terminal import Screen, write_out

__all__ = ["replay", "twins"]


def replay(
    folder: Annotated[Path, typer.Argument(help="Folder of the recorded dataset.")],
    *,
    out: Annotated[str, typer.Option(help="Folder of the new dataset, or an object store's URL.")],
    scenes: Annotated[str | None, typer.Option(help="Scene numbers, 0-4,7; default: all.")] = None,
    rig: RigOption = None,
    sensors: Annotated[str | None, typer.Option(help="Sensors to add to every drone: +lidar,+depth.")] = None,
    weather: WeatherOption = None,
    formation: FormationOption = None,
    topology: TopologyOption = None,
    hide: Annotated[
        list[str] | None, typer.Option(help="Actor (instance id or blueprint) or class to leave out; repeat for more.")
    ] = None,
    simulator: SimulatorOption = None,
    run: RunOption = None,
    check: CheckOption = True,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim replay``."""
    from uavsim.replays.requests import request_of_recordings

    request = request_of_recordings(
        folder,
        out,
        scenes=scenes,
        sensors=sensors,
        hide=tuple(hide or ()),
        changes={"formation": formation, "rig": rig, "weather": weather, "topology": topology},
        simulators=tuple(simulator or ()),
        run=run_config(run),
    )
    run_request(request.model_copy(update={"check": check}), dry_run=dry_run, as_json=as_json)


def twins(
    folder: Annotated[Path, typer.Argument(help="Folder of the recorded dataset.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder of the twins and their tables.")],
    scenes: Annotated[str | None, typer.Option(help="Scene numbers, 0-4,7; default: all.")] = None,
    weather: Annotated[
        list[str] | None,
        typer.Option(
            help="A twin in this weather: night, dusk, hard_rain, ... (uavsim list weathers); repeat for more."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="A twin without this actor (blueprint, SCENE:ID) or class; repeat for more."),
    ] = None,
    skin: Annotated[
        list[str] | None,
        typer.Option(help="Twins in this skin: street, ... (uavsim list skins) or a YAML file; repeat for more."),
    ] = None,
    occluders: Annotated[bool, typer.Option("--occluders", help="A twin without the actors that hide others.")] = False,
    simulator: SimulatorOption = None,
    run: RunOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim twins``."""
    from uavsim.replays.twins import make_twins, requested_twins, requests_of

    chosen = requested_twins(
        folder, weather=weather or (), without=without or (), occluders=occluders, skins=skin or (), scenes=scenes
    )
    requests = requests_of(folder, out, chosen, scenes=scenes, simulators=tuple(simulator or ()), run=run_config(run))
    screen = Screen(quiet=as_json)
    if dry_run:
        if as_json:
            write_out(json.dumps([asdict(replace(twin, skin=None)) for twin in chosen]))
        for twin in chosen:
            screen.print(f"{twin.name}: {len(twin.words)} changes, into {out / twin.name}")
        screen.print("nothing was started or written (--dry-run)")
        return
    from uavsim.flows.command import generate

    console = Screen(stderr=True)
    result = make_twins(folder, out, chosen, requests, generate=partial(generate, console=console))
    if as_json:
        write_out(json.dumps(asdict(result)))
    for name, images in result.images.items():
        screen.print(f"{name}: {images} images linked in {out / 'twin.json'}")
    screen.print(f"{result.proven} of {result.causes} occlusions are proven by their twins, {result.seconds:.0f} s")
