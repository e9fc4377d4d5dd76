"""``uavsim mock-sim``, ``airsim-settings`` and ``calibrate``: the simulators and what they need to know."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from uavsim.config.backends import backend_of
from uavsim.environment import python_command
from uavsim.errors import InputError, SimulatorError
from uavsim.files.whole import write_whole
from uavsim.supervise.clients import check_clients
from uavsim.terminal import Screen

_CALIBRATION_TIMEOUT_S = 180


def mock_sim(context: typer.Context) -> None:
    """Serve CARLA's and AirSim's real protocols with no GPU."""
    # it is an island, so nothing of it is imported here
    os.execv(sys.executable, python_command("headless_simulator", *context.args))


def airsim_settings(
    out: Annotated[Path, typer.Option(help="file to write; AirSim reads ~/Documents/AirSim/settings.json")],
    dataset: Annotated[str, typer.Option(help="dataset YAML whose formation and rig are meant")] = "uav3d",
    town: Annotated[str | None, typer.Option(help="town, when the dataset has several")] = None,
    client: Annotated[Literal["airsim", "cosys"], typer.Option(help="whose server reads it")] = "airsim",
) -> None:
    """Write AirSim's settings.json for a formation and rig."""
    from uavsim.plan import plan_scenes  # scipy takes a moment to import
    from uavsim.simulate.airsim.settings import airsim_settings as settings_of

    plan = plan_scenes(dataset, town=town)[0]
    text = json.dumps(settings_of(plan, client=client), indent=2) + "\n"
    write_whole(out, text.encode())
    Screen().print(f"{out}: {len(plan.swarm.drone_ids)} drones x {len(plan.cameras)} cameras; restart AirSim to use it")


def calibrate(
    simulator: Annotated[str, typer.Option(help="HOST:CARLA_PORT:AIRSIM_PORT of a running merged simulator")],
    town: Annotated[str, typer.Option(help="town whose YAML the result belongs into")],
) -> None:
    """Measure where AirSim's origin lies in CARLA's town."""
    # in a process of its own: libcarla may take its process down with it
    host, *ports = simulator.split(":")
    if not host or len(ports) != 2 or not all(map(_is_port, ports)):
        raise InputError(f"--simulator {simulator!r} is not HOST:CARLA_PORT:AIRSIM_PORT, with ports of 1 to 65535")
    check_clients(backend_of("merged"))
    where = ("--carla", f"{host}:{ports[0]}", "--airsim", f"{host}:{ports[1]}")
    command = python_command("uavsim.simulate.calibrate", *where)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_CALIBRATION_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise SimulatorError(
            f"the simulator at {simulator} did not answer within {_CALIBRATION_TIMEOUT_S} s"
        ) from error
    if not done.stdout.strip():
        raise SimulatorError(f"the measuring process died: {done.stderr.strip().splitlines()[-1:] or 'without a word'}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise SimulatorError(answer["error"])
    found = answer["measurement"]
    origin = ", ".join(f"{v:.3f}" for v in found["origin_ue_m"])
    console = Screen()
    console.print(f"{found['points']} places, residual {found['residual_m']:.4f} m, worst {found['worst_m']:.4f} m, "
                  f"turn {found['turn_deg']:.4f} degrees")  # fmt: skip
    console.print(f"town_configs/{town.lower()}.yaml:  airsim_origin_ue_m: [{origin}]")


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535
