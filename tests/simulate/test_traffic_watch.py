from dataclasses import replace

import numpy as np
import pytest

from tools.common.plans import scene_plan
from uavsim.errors import TrafficStalled
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.replay import ReplayPlan
from uavsim.records.motion import MotionLog, TickMotion
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo
from uavsim.simulate.ports import SceneTraffic
from uavsim.simulate.traffic_watch import IN_SCENE, IN_WARMUP, TrafficWatch

IDS = np.arange(1, 11)
HELD = {9, 10}  # at a red light in the first tick


def info(instance_id: int, kind: str = "vehicle") -> ActorInfo:
    return ActorInfo(
        instance_id=instance_id,
        simulator_actor_id=100 + instance_id,
        kind=kind,
        blueprint="vehicle.audi.a2",
        base_type="car",
        half_extent_m=(2.0, 1.0, 0.8),
        actor_SE3_box=SE3.identity(),
        semantic_tag=14,
    )


def watched(*, moving: int, ticks: int, plan: ScenePlan, kind: str = "vehicle", way_m: float = 2.0) -> TrafficWatch:
    """Watch ten vehicles; the first ``moving`` ones move ``way_m`` metres."""
    watch = TrafficWatch(SceneTraffic(tuple(info(int(i), kind) for i in IDS)), plan)
    for tick in range(ticks):
        pose = np.zeros((10, 6), np.float32)
        pose[:moving, 0] = tick / max(ticks - 1, 1) * way_m
        pose[:, 2] = -tick  # all fall, which is no horizontal motion
        held = np.array([int(i) in HELD and tick == 0 for i in IDS])
        none = np.zeros(10, np.int64)
        watch.add(IN_WARMUP, TickMotion(IDS, pose, np.zeros((10, 5)), none, held, (), np.zeros(0, np.int64)))
    return watch


PLAN = scene_plan(samples=2)  # steps of 0.05 s


@pytest.mark.parametrize(
    ("moving", "way_m", "stalls"), [(8, 2.0, False), (3, 2.0, False), (2, 2.0, True), (8, 0.9, True)]
)
def test_too_few_moving_vehicles_void_the_scene(moving: int, way_m: float, stalls: bool) -> None:
    watch = watched(moving=moving, ticks=60, plan=PLAN, way_m=way_m)
    moved = moving if way_m > 1 else 0
    assert watch.counts() == {IN_WARMUP: (8, moved)}  # vehicles at the light are excluded
    if stalls:
        with pytest.raises(
            TrafficStalled, match=rf"^{moved} of 8 vehicles .* in the warm-up of 3\.0 s; .* is 0\.3: .*\.md\)$"
        ):
            watch.check(IN_WARMUP)
    else:
        watch.check(IN_WARMUP)
    watch.check(IN_SCENE)  # nothing was watched


def test_vehicle_that_drives_on_after_a_light_counts_as_moving() -> None:
    assert watched(moving=10, ticks=60, plan=PLAN).counts() == {IN_WARMUP: (10, 10)}


@pytest.mark.parametrize(("ticks", "least"), [(59, 0.3), (60, 0.0)])
def test_short_span_and_share_0_are_not_judged(ticks: int, least: float) -> None:
    watched(moving=0, ticks=ticks, plan=replace(PLAN, min_moving_share=least)).check(IN_WARMUP)


def test_parked_vehicles_and_replays_are_not_watched() -> None:
    nothing = MotionLog(np.zeros(0, np.int64), np.zeros(0, np.int64), (), (), {})
    replay = replace(PLAN, ingredients={"replay": ReplayPlan(nothing, (), ())})
    for watch in (
        watched(moving=0, ticks=60, plan=PLAN, kind="case_vehicle"),
        watched(moving=0, ticks=60, plan=replay),
    ):
        watch.check(IN_WARMUP)
        assert watch.counts() == {}


def test_traffic_seed_depends_on_the_retry() -> None:
    seeds = [replace(PLAN, traffic_retry=retry).traffic_seed for retry in (0, 1, 2, 1)]
    assert seeds[0] == PLAN.seed
    assert len({*seeds[:3]}) == 3
    assert seeds[3] == seeds[1]
