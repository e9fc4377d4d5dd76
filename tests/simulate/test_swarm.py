from dataclasses import replace

import numpy as np

from tests.records.test_motion import motion
from tools.common.plans import scene_plan
from uavsim.ingredients.replay import ReplayPlan
from uavsim.simulate.airsim.swarm import AirSimFlight
from uavsim.simulate.swarm import PlannedSwarm

PLAN = scene_plan(samples=2)
FLOWN = motion(11, 1, drones=5, seed=3)
SHOWN = ReplayPlan(FLOWN.packed(), (), ())
AGAIN = replace(PLAN, ingredients={"replay": SHOWN})


def still(_phase: str, _tick: int) -> None:
    pass


def test_replay_repeats_recorded_poses_exactly() -> None:
    for swarm in (PlannedSwarm(), AirSimFlight("127.0.0.1", 1)):  # the second has no flight and sends no request
        swarm.begin(AGAIN, heartbeat=still)
        for step in (0, 7, 10):
            for row, drone in enumerate(swarm.advance(step)):
                flown = FLOWN.map_SE3_flu[step, row]
                assert drone.map_SE3_flu.quat_wxyz.tobytes() == flown.quat_wxyz.tobytes()
                assert drone.map_SE3_flu.translation_m.tobytes() == flown.translation_m.tobytes()
                assert drone.velocity_map_mps.tobytes() == FLOWN.velocity_map_mps[step, row].tobytes()
                planned = PLAN.swarm.map_SE3_flu[step, row]
                np.testing.assert_array_equal(drone.planned_map_SE3_flu.translation_m, planned.translation_m)


def test_replay_without_drones_flies_the_plan() -> None:
    swarm = PlannedSwarm()
    swarm.begin(replace(AGAIN, ingredients={"replay": replace(SHOWN, drones=False)}), heartbeat=still)
    planned_m = PLAN.swarm.map_SE3_flu[4, 0].translation_m
    np.testing.assert_allclose(swarm.advance(4)[0].map_SE3_flu.translation_m, planned_m, atol=1e-3)
