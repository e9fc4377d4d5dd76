"""One clock for everybody: the scene's steps are the simulator's ticks, one by one, none lost."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from uavsim.errors import MissedTick
from uavsim.records.motion import SceneMotion
from uavsim.records.plan import ScenePlan, WeatherTrack
from uavsim.records.recording import AgentState, DroneState
from uavsim.records.sensors import Sensor
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

_NOTHING = SceneTraffic()
_CLOCK_TOLERANCE_S = 1e-4  # the simulator adds float steps; a lost tick is 0.05 s


def weather_at(track: WeatherTrack, time_us: int) -> tuple[float, ...]:
    """Interpolate the 14 parameters at a time, constant before the first and after the last key."""
    if len(track.times_us) == 1:  # asked for at every tick
        return tuple(track.values[0].tolist())
    return tuple(float(np.interp(time_us, track.times_us, column)) for column in track.values.T)


class Lockstep:
    """Drives world, swarm and sensors through one scene; a capture is one tick of all three."""

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
        """Take the three ports of a backend that is prepared for ``plan``, and what spawned."""
        self._plan, self._heartbeat = plan, heartbeat
        self._world, self._swarm, self._sensors = world, swarm, sensors
        self._next = 0
        self._zero_s = 0.0
        self._weather: tuple[float, ...] = ()
        self._recorder = MotionRecorder(plan)
        self._ground = GroundAgents(traffic, plan)
        self._watch = TrafficWatch(traffic, plan)
        self._rendered = frozenset(plan.rendered_steps)
        self._order = {sensor: number for number, sensor in enumerate(plan.sensors)}

    def warm_up(self) -> None:
        """Let the traffic come to speed, images off; the weather is that of step 0, and so is all that is placed.

        Raises:
            TrafficStalled: too little of it moves.
        """
        self._set_weather(0)
        for tick in range(self._plan.warmup_ticks):
            self._world.show(0)
            self._watch.add(IN_WARMUP, self._world.tick(render=False).motion)
            self._heartbeat("warmup", tick)
        self._watch.judge(IN_WARMUP)

    def capture(
        self, step: int, *, poses_of: Callable[[Sequence[DroneState | AgentState]], list[SensorPose]]
    ) -> tuple[tuple[DroneState | AgentState, ...], list[SensorPose], TickState, PendingReadings]:
        """Advance to ``step`` and take all images in its very tick; they may come while the next steps are simulated.

        Args:
            step: a plan step after the last one captured.
            poses_of: says where the sensors of agents are, in the plan's order; by its end the images before are here.

        Raises:
            MissedTick: the actor that carries an agent is gone.
            SceneVoid: it is there and of no use.
        """
        due = self._due(step)
        while self._next < step:
            self._sensors.expect(due, ticks=step - self._next)
            self._advance_world(self._swarm.advance(self._next), render=False)
        self._sensors.expect(due, ticks=0)
        drones = self._swarm.advance(step)
        placed: tuple[DroneState | AgentState, ...] = (*drones, *self._ground.standing)
        poses = poses_of(placed)
        self._sensors.place(poses)
        state = self._advance_world(drones, render=True)
        if carried := self._ground.carried(state, drones):
            state = replace(state, carried=tuple(poses_of(carried)))
            poses = sorted([*poses, *state.carried], key=lambda pose: self._order[pose.sensor])
        return placed + carried, poses, state, self._sensors.collect(state)

    def _due(self, step: int) -> Collection[Sensor]:
        """Return the sensors that are read at a step, and at the next one if that is captured, too."""
        due = self._plan.sensors_at(step)
        return due if step + 1 not in self._rendered else {*due, *self._plan.sensors_at(step + 1)}

    def weather_now(self) -> tuple[float, ...]:
        """Return the 14 parameters that were set last."""
        return self._weather

    def motion(self) -> SceneMotion | None:
        """Return what the actors and the drones did so far; None where the world does not say."""
        return self._recorder.motion()

    def moved(self) -> dict[str, tuple[int, int]]:
        """Return how much of the traffic moved (``TrafficWatch.counts``).

        Raises:
            TrafficStalled: too little of it moves.
        """
        self._watch.judge(IN_SCENE)
        return self._watch.counts()

    def _advance_world(self, drones: Sequence[DroneState], *, render: bool) -> TickState:
        step = self._next
        self._set_weather(step)
        self._world.show(step, drones)
        state = self._world.tick(render=render)
        if step == 0:
            self._zero_s = state.elapsed_s
        elapsed_s, wanted_s = state.elapsed_s - self._zero_s, step * self._plan.step_us / 1e6
        if abs(elapsed_s - wanted_s) > _CLOCK_TOLERANCE_S:
            raise MissedTick(
                f"step {step} is {elapsed_s:.6f} s into the scene by the simulator's clock, not {wanted_s:.6f}"
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
