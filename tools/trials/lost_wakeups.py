"""Flights that lose wake-ups of libcarla's Traffic Manager (CARLA issue 9172) are woken and give the same poses.

    scripts/trial lost-wakeups [--ticks 60000] [--vehicles 20] [--flights 3]

Each flight has its own headless simulator, which does not hold answers to ticks back. Within some ten thousand ticks a client
then hangs once or twice. ``HangWatch`` has to wake it each time, here after a second. All flights must end with the same poses
of all vehicles at every tick. Exit code 0 if so; 1 if not, or if no flight ever hung.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from headless_simulator.testing import running_simulator

from tools.common.plans import rig, scene_plan
from uavsim.simulate.carla.world import CarlaWorld
from uavsim.simulate.hang_watch import HangWatch

LIMIT_S: Final = 1.0
LOOK_S: Final = 0.1
DIGEST_EVERY: Final = 1000


def main() -> int:
    """Fly, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ticks", type=int, default=60_000)
    parser.add_argument("--vehicles", type=int, default=20)
    parser.add_argument("--flights", type=int, default=3)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)  # this process is the client of one flight
    options = parser.parse_args()
    if options.port is not None:
        return _fly(options.port, ticks=options.ticks, vehicles=options.vehicles)
    reported = []
    for flight in range(options.flights):
        reported.append(_flown(("--ticks", str(options.ticks), "--vehicles", str(options.vehicles))))
        hangs = ", ".join(map(str, reported[-1]["woken"])) or "none"
        sys.stdout.write(f"flight {flight}: {reported[-1]['ticks']} ticks, woken at {hangs}\n")
        sys.stdout.flush()
    first = reported[0]["digests"]
    differ = [flight for flight, each in enumerate(reported) if each["digests"] != first]
    hung = sum(len(each["woken"]) for each in reported)
    sys.stdout.write(f"{hung} hangs, all woken; flights with other poses than the first: {differ or 'none'}\n")
    return 0 if hung and not differ else 1


def _flown(words: Sequence[str]) -> dict[str, list[object]]:
    with running_simulator("--no-airsim", "--wake-gap", "0", stderr=subprocess.DEVNULL) as running:
        command = [
            sys.executable,
            "-m",
            "tools.trials.program",
            "tools.trials.lost_wakeups",
            "--port",
            str(running.carla_port),
            *words,
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    reported: dict[str, list[object]] = json.loads(done.stdout.splitlines()[-1])
    return reported


def _fly(port: int, *, ticks: int, vehicles: int) -> int:
    plan = scene_plan(samples=1, vehicles=vehicles, cameras=rig()[:1])
    world = CarlaWorld("127.0.0.1", port)
    world.prepare(plan, heartbeat=lambda *_: None)
    world.populate(plan, heartbeat=lambda *_: None)
    woken, digests, poses = list[int](), list[str](), hashlib.sha256()
    with HangWatch(
        world, lambda _: os._exit(1), on_woken=woken.append, limit_s=LIMIT_S, woken_s=LIMIT_S, look_s=LOOK_S
    ) as watch:
        for tick in range(1, ticks + 1):
            state = world.tick(render=False)
            watch.note("fly")
            assert state.motion is not None
            poses.update(state.motion.ue_pose.tobytes())
            if tick % DIGEST_EVERY == 0:
                digests.append(poses.hexdigest())
    sys.stdout.write("\n" + json.dumps({"ticks": ticks, "woken": woken, "digests": digests}) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors
