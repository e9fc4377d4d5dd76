"""``uavsim mock-sim`` and ``airsim-settings``: start the headless simulator, write AirSim's settings."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from uavsim.cli.options import DATASET_HELP
from uavsim.environment import python_command
from uavsim.files.whole import write_whole
from uavsim.terminal import Screen


def mock_sim(context: typer.Context) -> None:
    """Run ``uavsim mock-sim``."""
    # its own distribution: this package must not import it
    os.execv(sys.executable, python_command("headless_simulator", *context.args))


def airsim_settings(
    out: Annotated[Path, typer.Option(help="File to write; AirSim reads ~/Documents/AirSim/settings.json.")],
    dataset: Annotated[str, typer.Option(help=DATASET_HELP)] = "uav3d",
    town: Annotated[
        str | None, typer.Option(help="Town of the dataset, if it has several (uavsim list towns).")
    ] = None,
    client: Annotated[Literal["airsim", "cosys"], typer.Option(help="Server that reads the file.")] = "airsim",
) -> None:
    """Run ``uavsim airsim-settings``."""
    from uavsim.plan import plan_scenes
    from uavsim.simulate.airsim.settings import airsim_settings as settings_of

    plan = plan_scenes(dataset, town=town)[0]
    text = json.dumps(settings_of(plan, client=client), indent=2) + "\n"
    write_whole(out, text.encode())
    Screen().print(f"{out}: {len(plan.swarm.drone_ids)} drones x {len(plan.cameras)} cameras; restart AirSim to use it")
