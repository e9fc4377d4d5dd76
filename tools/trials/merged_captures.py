"""Capture many times from a merged simulator, and look at every capture: no hang, masks and boxes that agree.

    scripts/trial merged-captures [--captures 1000] [--engine carla|free] [--samples 20]

Scenes of five drones with five cameras each fly one after the other in one session, as a run flies them. A capture counts
when all its images passed what a run asks of them; masks are held against boxes as in ``capture/masks.py``. Prints one JSON
line; ends with 0 only when all captures were made and the masks were proven in every scene.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.common.plans import rig, scene_plan
from tools.trials.frame_faults import simulator_of
from uavsim.capture.assemble import Assembler
from uavsim.capture.rig import sensor_poses
from uavsim.errors import UavsimError
from uavsim.records.plan import ScenePlan
from uavsim.simulate.session import Session, open_session

WIDTH, HEIGHT = 192, 112


def plan_of(scene: int, *, samples: int, vehicles: int) -> ScenePlan:
    """Make the plan of a scene; each has traffic of its own."""
    plan = scene_plan(
        samples=samples,
        vehicles=vehicles,
        seed=100 + scene,
        warmup_ticks=10,
        topology="merged",
        cameras=rig(width=WIDTH, height=HEIGHT),
    )
    return replace(plan, max_formation_error_m=50.0)


def fly(session: Session, plan: ScenePlan) -> tuple[int, str]:
    """Capture every sample of a scene; returns how many images came, and how the masks were read."""
    lockstep, traffic = session.begin_scene(plan, heartbeat=lambda _phase, _n: None)
    assembler, images = Assembler(plan, traffic.actors), 0
    for step in plan.capture_steps:
        _, poses, state, pending = lockstep.capture(step, poses_of=lambda places: sensor_poses(plan, places))
        images += len(assembler.assemble(poses, pending.wait(), state.actors))
    return images, assembler.mask_ids


def measure(captures: int, *, engine: str, samples: int, vehicles: int) -> dict[str, Any]:
    """Capture from a simulator of ours and count."""
    outcome: dict[str, Any] = {"engine": engine, "captures": 0, "images": 0, "modes": {}, "refused": []}
    first = plan_of(0, samples=samples, vehicles=vehicles)
    with (
        tempfile.TemporaryDirectory(prefix="uavsim-merged-") as temp,
        simulator_of(first, Path(temp), engine=engine) as endpoints,
    ):
        session, scene = open_session("merged", endpoints), 0
        ticks, began, captured_s = 0, time.monotonic(), 0.0
        while outcome["captures"] < captures and len(outcome["refused"]) < 3:
            began_scene = time.monotonic()
            try:
                images, mode = fly(session, plan_of(scene, samples=samples, vehicles=vehicles))
            except UavsimError as error:
                outcome["refused"].append(str(error))
            else:
                outcome["captures"] += samples
                outcome["images"] += images
                outcome["modes"][mode] = outcome["modes"].get(mode, 0) + 1
                captured_s += time.monotonic() - began_scene
            scene += 1
            print(f"{outcome['captures']} captures", file=sys.stderr, flush=True)
        ticks = session.swarm.engine.ticks_passed  # type: ignore[attr-defined]
        outcome |= {"seconds": round(time.monotonic() - began, 1), "ticks_passed": ticks}
        outcome["images_per_s"] = round(outcome["images"] / max(captured_s, 1e-9), 1)
    return outcome


def main() -> int:
    """Capture, print, and leave: libcarla's threads may abort a regular exit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", type=int, default=1000)
    parser.add_argument("--engine", choices=["carla", "free"], default="carla")
    parser.add_argument("--samples", type=int, default=20, help="captures of a scene")
    parser.add_argument("--vehicles", type=int, default=25)
    options = parser.parse_args()
    os.environ["HOME"] = tempfile.mkdtemp(prefix="uavsim-home-")
    outcome = measure(options.captures, engine=options.engine, samples=options.samples, vehicles=options.vehicles)
    print(json.dumps(outcome), flush=True)
    good = outcome["captures"] >= options.captures and set(outcome["modes"]) <= {"actor_id", "voted"}
    os._exit(0 if good else 1)
