"""One clock for world, swarm and sensors: each step of the scene is one tick of the simulator."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from uavsim.errors import MissedTick
from uavsim.records.motion import SceneMotion
from uavsim.records.plan import ScenePlan, WeatherTrack
from uavsim.records.recording import AgentState, DroneState
from uavsim.records.sensors import Sensor
from uavsim.simulate.draw_schedule import DrawSchedule
from uavsim.simulate.ground import GroundAgents
from uavsim.simulate.motion_recorder import MotionRecorder
from uavsim.simulate.ports import (
    Heartbeat,
    PendingReadings,
    SceneTraffic,
    SensorPort,
    SensorPose,
    SwarmPort,
    TickState,
    WorldPort,
)
from uavsim.simulate.traffic_watch import IN_SCENE, IN_WARMUP, TrafficWatch

PosesOf: TypeAlias = Callable[[Sequence[DroneState | AgentState], Sequence[Sensor]], list[SensorPose]]
"""(Agent states, sensors) -> poses of the agents' sensors, in the sensors' order."""

_NOTHING = SceneTraffic()
_CLOCK_TOLERANCE_S = 1e-4  # float errors of the simulator's clock; a lost tick is 0.05 s


def weather_at(track: WeatherTrack, time_us: int) -> tuple[float, ...]:
    """Interpolate the 14 weather parameters at a time; constant before the first and after the last key."""
    if len(track.times_us) == 1:  # the common case, at every tick
        return tuple(track.values[0].tolist())
    return tuple(float(np.interp(time_us, track.times_us, column)) for column in track.values.T)


class Lockstep:
    """Drives world, swarm and sensors through a scene; a capture is one tick of all three."""

    def __init__(
        self,
        plan: ScenePlan,
        *,
        world: WorldPort,
        swarm: SwarmPort,
        sensors: SensorPort,
        heartbeat: Heartbeat,
        traffic: SceneTraffic = _NOTHING,
    ) -> None:
        """Wrap the three ports of a backend prepared for ``plan``, and the spawned traffic."""
        self._plan, self._heartbeat = plan, heartbeat
        self._world, self._swarm, self._sensors = world, swarm, sensors
        self._next = 0
        self._zero_s = 0.0
        self._weather: tuple[float, ...] = ()
        self._recorder = MotionRecorder(plan)
        self._ground = GroundAgents(traffic, plan)
        self._watch, self._schedule = TrafficWatch(traffic, plan), DrawSchedule(plan)
        self._order = {sensor: number for number, sensor in enumerate(plan.sensors)}

    def warm_up(self, *, poses_of: PosesOf) -> None:
        """Run the warm-up, so that traffic gets moving; weather and placed actors are those of step 0.

        At its end RGB cameras settle at their poses of step 0.

        Raises:
            TrafficStalled: too few vehicles move.
        """
        self._set_weather(0)
        for step in range(-self._plan.warmup_ticks, 0):
            self._world.show(0)
            self._expect(step, self._at_start, poses_of=poses_of)
            self._watch.add(IN_WARMUP, self._world.tick(captured=False).motion)
            self._heartbeat("warmup", step + self._plan.warmup_ticks)
        self._watch.check(IN_WARMUP)

    def capture(
        self, step: int, *, poses_of: PosesOf
    ) -> tuple[tuple[DroneState | AgentState, ...], list[SensorPose], TickState, PendingReadings]:
        """Advance to ``step`` and capture all sensors in that tick.

        Args:
            step: a plan step after the last capture; all earlier readings have arrived.
            poses_of: computes sensor poses.

        Raises:
            MissedTick: the actor that carries an agent has disappeared.
            SceneVoid: the actor has turned over, left the map or collided.
        """
        while self._next < step:
            drones = self._swarm.advance(self._next)
            self._expect(self._next, (*drones, *self._ground.standing), poses_of=poses_of)
            self._advance_world(drones, captured=False)
        drones = self._swarm.advance(step)
        placed: tuple[DroneState | AgentState, ...] = (*drones, *self._ground.standing)
        reading = self._schedule.reading[step]
        poses = [pose for pose in self._expect(step, placed, poses_of=poses_of) if pose.sensor in reading]
        state = self._advance_world(drones, captured=True)
        if carried := self._ground.carried(state, drones):
            state = replace(state, carried=tuple(poses_of(carried, tuple(reading))))
            poses = sorted([*poses, *state.carried], key=lambda pose: self._order[pose.sensor])
        return placed + carried, poses, state, self._sensors.collect(state)

    def _expect(self, step: int, agents: Sequence[DroneState | AgentState], *, poses_of: PosesOf) -> list[SensorPose]:
        """Prepare the sensors of a step at their agents' poses; returns the poses of those that no actor carries."""
        measuring = (*self._schedule.reading.get(step, ()), *self._schedule.settling.get(step, ()))
        poses = poses_of(agents, measuring) if measuring else []
        self._sensors.expect(step, poses)
        return poses

    @property
    def _at_start(self) -> tuple[DroneState | AgentState, ...]:
        """States of the drones at step 0 of the plan, and of the static agents."""
        swarm, still = self._plan.swarm, np.zeros(3)
        at = swarm.map_SE3_flu[0]
        drones = (DroneState(drone, at[row], still, at[row]) for row, drone in enumerate(swarm.drone_ids))
        return (*drones, *self._ground.standing)

    def weather_now(self) -> tuple[float, ...]:
        """Return the 14 weather parameters that were set last."""
        return self._weather

    def motion(self) -> SceneMotion | None:
        """Return the recorded motion of actors and drones; None if the world reports none."""
        return self._recorder.motion()

    def moved(self) -> dict[str, tuple[int, int]]:
        """Return the counts of moving traffic (``TrafficWatch.counts``).

        Raises:
            TrafficStalled: too few vehicles move.
        """
        self._watch.check(IN_SCENE)
        return self._watch.counts()

    def _advance_world(self, drones: Sequence[DroneState], *, captured: bool) -> TickState:
        step = self._next
        self._set_weather(step)
        self._world.show(step, drones)
        state = self._world.tick(captured=captured)
        if step == 0:
            self._zero_s = state.elapsed_s
        elapsed_s, planned_s = state.elapsed_s - self._zero_s, step * self._plan.step_us / 1e6
        if abs(elapsed_s - planned_s) > _CLOCK_TOLERANCE_S:
            raise MissedTick(
                f"step {step}: the simulator's clock is at {elapsed_s:.6f} s of the scene, not at {planned_s:.6f} s"
            )
        self._recorder.add(step, state.motion, drones)
        self._watch.add(IN_SCENE, state.motion)
        self._next = step + 1
        self._heartbeat("fly", step)
        return state

    def _set_weather(self, step: int) -> None:
        weather = weather_at(self._plan.weather, step * self._plan.step_us)
        if weather != self._weather:
            self._world.set_weather(weather)
            self._weather = weather
