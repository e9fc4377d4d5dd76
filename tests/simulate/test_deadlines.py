"""Each deadline ends its call against a stalling simulator."""

import json
from pathlib import Path

import pytest
import yaml
from headless_simulator.testing import running_simulator

from tools.common.plans import rig, scene_plan
from uavsim.config.deadlines import Deadlines
from uavsim.errors import SystemFailure
from uavsim.records.codec import pack_plan
from uavsim.simulate.airsim.settings import airsim_settings
from uavsim.supervise.client_process import ClientProcess, client_command

STALL_S = 30.0
SHORT_S = 2.0


def fly(tmp_path: Path, fault: dict[str, object], *, deadlines: Deadlines, topology: str = "carla") -> None:
    plan = scene_plan(samples=1, vehicles=0, warmup_ticks=2, topology=topology, cameras=rig(width=64, height=36)[:1])
    faults, settings = tmp_path / "faults.yaml", tmp_path / "settings.json"
    faults.write_text(yaml.safe_dump({"faults": [fault]}))
    settings.write_text(json.dumps(airsim_settings(plan)))
    (tmp_path / "plan").write_bytes(pack_plan(plan))
    town = "Town03" if fault.get("call") == "load_new_episode" else "Town10HD"
    words = ("--town", town, "--render", "flat", "--faults", str(faults), "--airsim-settings", str(settings))
    worlds = ("--separate-worlds",) if topology == "bridge" else ()
    with running_simulator(*words, *worlds) as simulator:
        where = {"carla": simulator.carla, "airsim": simulator.airsim}
        command = client_command(topology=topology, endpoints=where, deadlines=deadlines, python="")
        with ClientProcess(command, log=tmp_path / "log", deadlines=deadlines, home=tmp_path / "home") as client:
            client.wait_ready()
            client.fly(tmp_path / "plan", out=tmp_path / "rec", on_event=lambda _: None)


@pytest.mark.parametrize(
    ("key", "call", "said"),
    [
        pytest.param(
            *("load_s", "load_new_episode", "CARLA failed while loading Town10HD: time-out of 2000ms"),
            marks=pytest.mark.release,
        ),
        ("call_s", "tick_cue", r"CARLA failed while .*: time-out of 2000ms"),
    ],
)
def test_stalled_call_ends_at_its_deadline(tmp_path: Path, key: str, call: str, said: str) -> None:
    fault = {"fault": "stall", "call": call, "seconds": STALL_S}
    with pytest.raises(SystemFailure, match=said):
        fly(tmp_path, fault, deadlines=Deadlines(**{key: SHORT_S}))


@pytest.mark.release
def test_missing_images_end_at_their_deadline(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure, match=r"no image within 2 s"):
        fly(tmp_path, {"fault": "drop_frame"}, deadlines=Deadlines(images_s=SHORT_S))


def test_stalled_airsim_call_ends_at_its_deadline(tmp_path: Path) -> None:
    fault = {"fault": "stall", "server": "airsim", "call": "simContinueForTime", "seconds": STALL_S}
    with pytest.raises(SystemFailure, match=r"AirSim.*Request timed out"):
        fly(tmp_path, fault, deadlines=Deadlines(airsim_s=SHORT_S), topology="bridge")


@pytest.mark.release
def test_default_deadlines_tolerate_a_short_stall(tmp_path: Path) -> None:
    fly(tmp_path, {"fault": "stall", "call": "tick_cue", "seconds": 3.0, "nth": 2}, deadlines=Deadlines())
