from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from tests.capture.poses import planned_swarm
from tools.common.plans import scene_plan, settled
from uavsim.capture.rig import sensor_poses
from uavsim.errors import MissedTick
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan, WeatherTrack
from uavsim.records.recording import ActorStates, DroneState
from uavsim.simulate.lockstep import Lockstep, weather_at
from uavsim.simulate.ports import ReadyReadings, SensorPose, TickState
from uavsim.simulate.swarm import planned_velocity_mps


@dataclass
class ScriptedWorld:
    """A stub world with a clock that may lose or gain ticks."""

    extra_ticks_at: dict[int, int] = field(default_factory=dict)
    ticks: int = 0
    rendered: list[int] = field(default_factory=list)
    weathers: list[tuple[float, ...]] = field(default_factory=list)
    shown_steps: list[tuple[int, int]] = field(default_factory=list)

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        self.shown_steps.append((self.ticks, step))

    def set_weather(self, values: Sequence[float]) -> None:
        self.weathers.append(tuple(values))

    def tick(self, *, captured: bool) -> TickState:
        self.ticks += 1 + self.extra_ticks_at.get(self.ticks, 0)
        if captured:
            self.rendered.append(self.ticks)
        none = np.zeros((0, 3))
        states = ActorStates(np.zeros(0, np.int64), SE3.identity((0,)), none, none, none, none)
        return TickState(1000 + self.ticks, self.ticks * 0.05, lambda: states)


@dataclass
class Cameras:
    collected: list[int] = field(default_factory=list)
    prepared: list[tuple[int, int]] = field(default_factory=list)

    def expect(self, step: int, poses: Sequence[SensorPose]) -> None:
        self.prepared.append((step, len(poses)))

    def collect(self, state: TickState) -> ReadyReadings:
        self.collected.append(state.frame)
        return ReadyReadings([])


def _fly(world: ScriptedWorld, plan: ScenePlan | None = None) -> Cameras:
    plan = plan or scene_plan(samples=3, warmup_ticks=4)
    swarm, cameras = planned_swarm(plan), Cameras()
    lockstep = Lockstep(plan, world=world, swarm=swarm, sensors=cameras, heartbeat=lambda _phase, _tick: None)  # type: ignore[arg-type]
    lockstep.warm_up(poses_of=partial(sensor_poses, plan))
    for step in plan.capture_steps:
        lockstep.capture(step, poses_of=partial(sensor_poses, plan))
    return cameras


def test_one_tick_a_step_and_images_in_captures_only() -> None:
    world = ScriptedWorld()
    cameras = _fly(world)
    assert world.ticks == 4 + 21  # warm-up, then steps 0..20
    assert world.rendered == [5, 15, 25]
    assert cameras.collected == [1005, 1015, 1025]
    assert [step for step, _ in cameras.prepared] == list(range(-4, 21))
    assert [step for step, poses in cameras.prepared if poses] == [0, 10, 20]
    assert len(world.weathers) == 1  # it does not change, so it is set once


def test_settling_cameras_follow_their_drones() -> None:
    plan = settled(scene_plan(samples=3, warmup_ticks=4), ticks=2, first_ticks=3)
    cameras = _fly(ScriptedWorld(), plan)
    posed = [step for step, poses in cameras.prepared if poses]
    assert posed == [-3, -2, -1, 0, 8, 9, 10, 18, 19, 20]
    assert {poses for _, poses in cameras.prepared if poses} == {len(plan.sensors)}


def test_actors_are_placed_before_each_tick() -> None:
    world = ScriptedWorld()
    _fly(world)
    assert world.shown_steps == [(tick, max(tick - 4, 0)) for tick in range(4 + 21)]  # warm-up shows step 0


@pytest.mark.parametrize("at", [5, 12, 23])
def test_additional_tick_is_noticed(at: int) -> None:
    with pytest.raises(MissedTick, match="simulator's clock"):
        _fly(ScriptedWorld(extra_ticks_at={at: 1}))


def test_weather_is_interpolated_linearly() -> None:
    values = np.zeros((2, 14))
    values[1] = np.arange(14)
    track = WeatherTrack("w", (1_000_000, 3_000_000), values)
    assert weather_at(track, 0) == (0.0,) * 14
    assert weather_at(track, 2_000_000)[13] == pytest.approx(6.5)
    assert weather_at(track, 9_000_000)[13] == 13.0


def test_planned_velocity_is_the_slope_of_the_trajectory() -> None:
    plan = scene_plan()
    np.testing.assert_allclose(planned_velocity_mps(plan, 5)[0], [5.0, 2.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(planned_velocity_mps(plan, 0)[3], [5.0, 2.0, 0.0], atol=1e-9)
