"""Cost of a tick in which few of 25 cameras take an image: ``scripts/bench --only sparse``.

25 drones with one camera each; in every second tick other ones fire by their clocks. Before: all are listened to, and
the simulator draws them all; now: those that fire are.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import psutil

from tools.bench.frames import quiet
from tools.bench.rows import Row, in_own_process, simulator
from tools.common.plans import rig, scene_plan
from uavsim.capture.rig import sensor_poses
from uavsim.geometry.se3 import SE3
from uavsim.records.clocks import ClocksPlan
from uavsim.records.plan import ScenePlan, SwarmTrajectory
from uavsim.records.sensors import Agent
from uavsim.simulate.carla.sensors import CarlaSensors
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.session import open_session

__all__ = ["rows"]

CAMERAS: Final = 25
FIRING: Final = (1, 5, 25)
CAPTURES: Final = 40
SIZE_PX: Final = (400, 225)


def plan_of(firing: int) -> ScenePlan:
    """Plan a scene in which, after the keyframe at its begin, other drones fire at every second step."""
    (camera, *_) = rig(width=SIZE_PX[0], height=SIZE_PX[1])
    plan = scene_plan(samples=1, vehicles=60, cameras=(camera,), warmup_ticks=60)
    steps = np.arange(2, 2 * CAPTURES + 2, 2)
    place_m = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(CAMERAS, 2) * 12.0
    first = plan.swarm.map_SE3_flu[0, 0]
    moved_m = np.concatenate([place_m, np.zeros((CAMERAS, 1))], axis=1) + first.translation_m
    still = SE3(np.tile(first.quat_wxyz, (CAMERAS, 1)), moved_m)
    swarm = SwarmTrajectory(tuple(range(CAMERAS)), SE3.stack([still] * (int(steps[-1]) + 1)))
    drone = (np.arange(CAPTURES)[:, None] * firing + np.arange(firing)) % CAMERAS  # others each time
    drone, step, none = np.sort(drone).ravel(), np.repeat(steps, firing), np.zeros(0)
    clocks = ClocksPlan(
        tuple(map(Agent, swarm.drone_ids)), 10.0, np.zeros(CAMERAS), np.zeros(CAMERAS), drone, step,
        np.asarray(step * plan.step_us, np.float64), none.astype(np.int64), none.astype(np.int64), none,
    )  # fmt: skip
    ingredients = {**plan.ingredients, "clocks": clocks}
    return replace(plan, keyframe_every_steps=10_000, swarm=swarm, ingredients=ingredients)


def measured(port: int, firing: int, *, all_listen: bool, server: psutil.Process) -> tuple[float, float]:
    """Return the simulator's and the client's processor milliseconds for a captured tick and the one before it."""
    plan = plan_of(firing)
    session = open_session("carla", {"carla": Endpoint("127.0.0.1", port)})
    assert isinstance(session.sensors, CarlaSensors)
    if all_listen:
        session.sensors.expect = lambda *_, **__: None  # type: ignore[method-assign]
    lockstep, _ = session.begin_scene(plan, heartbeat=quiet)
    own, before = psutil.Process(), (0.0, 0.0)
    for number, step in enumerate(plan.capture_steps):
        *_, pending = lockstep.capture(step, poses_of=lambda places, s=step: sensor_poses(plan, places, step=s))  # type: ignore[misc]
        taken = pending.wait()
        assert len(taken) == (CAMERAS if number == 0 else firing) * 2
        if number == 1:  # the keyframe took all
            before = _used_s(server), _used_s(own)
    after = _used_s(server), _used_s(own)
    session.close()
    server_ms, client_ms = ((b - a) / (CAPTURES - 1) * 1e3 for a, b in zip(before, after, strict=True))
    return server_ms, client_ms


def _used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def rows() -> Iterator[Row]:
    """Measure each number of cameras, with all listened to and with those that fire."""
    how = f"25 cameras of {SIZE_PX[0]}x{SIZE_PX[1]} with masks over Town10HD, every second tick captured, {CAPTURES} times"
    for name, parts in in_own_process("sparse").items():
        yield Row(f"sparse_{name}", sum(parts), "ms", f"{how}; simulator {parts[0]:.1f}, client {parts[1]:.1f}")


def main() -> int:
    """Print one JSON line."""
    found = {}
    with simulator("--carla-port", "0") as running:
        for firing in FIRING:
            for all_listen in (True, False):
                name = f"{firing}_of_{CAMERAS}_" + ("all_listen" if all_listen else "now")
                found[name] = measured(running.port, firing, all_listen=all_listen, server=running.process)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
