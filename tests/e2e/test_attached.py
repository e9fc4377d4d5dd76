"""In a shared simulator, leftover actors of a killed client do not reach the next scene."""

import json
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from headless_simulator.testing import RunningSimulator

from tools.common.plans import rig, scene_plan
from uavsim.capture.recording_reader import read_recording
from uavsim.config.deadlines import Deadlines
from uavsim.records.codec import pack_plan
from uavsim.records.plan import ScenePlan
from uavsim.supervise.client_process import client_command

pytestmark = pytest.mark.release


def start_client(simulator: RunningSimulator) -> subprocess.Popen[str]:
    where = {"carla": simulator.carla}
    command = client_command(topology="carla", endpoints=where, deadlines=Deadlines(), python=sys.executable)
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def fly(client: subprocess.Popen[str], plan: ScenePlan, folder: Path) -> None:
    folder.mkdir()
    (folder / "plan").write_bytes(pack_plan(plan))
    assert client.stdin is not None
    client.stdin.write(json.dumps({"cmd": "fly", "plan": str(folder / "plan"), "out": str(folder / "rec")}) + "\n")
    client.stdin.flush()


def events_until(out: IO[str] | None, *names: str) -> dict[str, object]:
    assert out is not None
    for line in out:
        event: dict[str, object] = json.loads(line)
        if event["event"] in names:
            return event
    raise AssertionError(f"the client process ended without any of {names}")


def test_actors_of_a_killed_client_do_not_reach_the_next_scene(simulator: RunningSimulator, tmp_path: Path) -> None:
    plan = scene_plan(samples=2, vehicles=30, cameras=rig(width=160, height=90)[:2])
    with start_client(simulator) as undisturbed:
        fly(undisturbed, plan, tmp_path / "first")
        assert events_until(undisturbed.stdout, "done", "error")["event"] == "done"
    with start_client(simulator) as doomed:
        fly(
            doomed, scene_plan(samples=40, vehicles=60, seed=99, cameras=rig(width=160, height=90)), tmp_path / "doomed"
        )
        events_until(doomed.stdout, "sample")
        doomed.kill()
    with start_client(simulator) as after:
        fly(after, plan, tmp_path / "second")
        done = events_until(after.stdout, "done", "error")
    assert done["event"] == "done", done
    assert (done["vehicles"], done["vehicles_asked"]) == (30, 30)
    first, second = (read_recording(tmp_path / name / "rec") for name in ("first", "second"))
    for a, b in zip(first.frames, second.frames, strict=True):
        assert a.actors.map_SE3_actor.translation_m.tolist() == b.actors.map_SE3_actor.translation_m.tolist()
        for shot, second_shot in zip(a.readings, b.readings, strict=True):
            for one, other in zip(shot.files.values(), second_shot.files.values(), strict=True):
                assert (first.folder / str(one)).read_bytes() == (second.folder / str(other)).read_bytes()
