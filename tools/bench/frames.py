"""Captures of a short flight kept in memory, and a session that gives them again: everything of a run but the simulator.

Used in processes of their own, since libcarla's buffers stay where its client put them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tools.common.plans import rig, scene_plan
from uavsim.capture.assemble import Assembler, Capture
from uavsim.capture.rig import sensor_poses
from uavsim.records.plan import ImageFormat, ScenePlan
from uavsim.records.recording import DroneState
from uavsim.records.road_map import Building
from uavsim.records.sensors import Sensor
from uavsim.simulate.carla import readers
from uavsim.simulate.ports import Endpoint, Heartbeat, Reading, ReadyReadings, SceneTraffic, SensorPose, TickState
from uavsim.simulate.session import Session, open_session

__all__ = ["SIZE_PX", "Frame", "Kept", "keep", "plan_of", "quiet"]

SIZE_PX = (800, 450)
VEHICLES = 200


def quiet(_phase: str, _tick: int) -> None:
    """Hear a heartbeat, and do nothing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One capture's data."""

    drones: tuple[DroneState, ...]
    state: TickState
    readings: list[Reading]


def plan_of(captures: int, *, images: str = "png") -> ScenePlan:
    """Plan a capture at every tick, all of them keyframes: five drones with five cameras of 800x450, PNG level 1 or JPEG."""
    plan = scene_plan(samples=captures, vehicles=VEHICLES, cameras=rig(width=SIZE_PX[0], height=SIZE_PX[1]))
    swarm = replace(plan.swarm, map_SE3_flu=plan.swarm.map_SE3_flu[:captures])
    form = ImageFormat(kind="jpeg" if images == "jpeg" else "png")
    return replace(plan, keyframe_every_steps=1, swarm=swarm, images=form)


@dataclass(frozen=True, slots=True)
class Kept:
    """The captures of one flight."""

    frames: tuple[Frame, ...]
    traffic: SceneTraffic
    drivable: Any

    def session(self, plan: ScenePlan) -> Session:
        """Return a session that flies ``plan`` and gets these captures, one after the other and again from the first."""
        again = _Again(self, plan)
        return Session("carla", again, again, again)

    def captures(self, plan: ScenePlan) -> list[list[Capture]]:
        """Return them as they are encoded: masks are taken apart and carry our own ids."""
        assembler = Assembler(plan, self.traffic.actors)
        return [
            assembler.assemble(sensor_poses(plan, frame.drones), frame.readings, frame.state.actors, first=number == 0)
            for number, frame in enumerate(self.frames)
        ]


def keep(port: int, count: int) -> Kept:
    """Fly in the simulator at a port, and keep what ``count`` captures bring, masks as they came; their truth is read once."""
    readers.INSTANCE = replace(readers.INSTANCE, read=readers.bgra, copy=lambda image, _: image)  # type: ignore[misc]
    plan = plan_of(count)
    session = open_session("carla", {"carla": Endpoint("127.0.0.1", port)})
    lockstep, traffic = session.begin_scene(plan, heartbeat=quiet)
    frames = []
    for step in plan.capture_steps:
        agents, _, state, pending = lockstep.capture(step, poses_of=lambda places: sensor_poses(plan, places))
        drones = tuple(agent for agent in agents if isinstance(agent, DroneState))
        frames.append(Frame(drones, _reported(state), pending.wait()))
    return Kept(tuple(frames), traffic, session.world.drivable())


def _reported(state: TickState) -> TickState:
    actors = state.actors
    return replace(state, seen=lambda: actors, motion=None)


class _Again:
    """World, swarm and cameras that give kept captures again."""

    kind = "mock"
    client_version = server_version = "0.9.16"
    map_name = "Town10HD"

    def __init__(self, kept: Kept, plan: ScenePlan) -> None:
        self._kept, self._plan, self._step = kept, plan, -1

    def _frame(self) -> Frame:
        return self._kept.frames[self._step % len(self._kept.frames)]

    def prepare(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Have nothing to load."""

    def populate(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> SceneTraffic:
        """Return the traffic of the flight."""
        del plan, heartbeat
        return self._kept.traffic

    def begin(
        self, plan: ScenePlan, *, heartbeat: Heartbeat | None = None, traffic: SceneTraffic | None = None
    ) -> None:
        """Have nothing to spawn."""

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        """Have no actors to place."""

    def set_weather(self, values: Sequence[float]) -> None:
        """Have no weather."""

    def tick(self, *, render: bool) -> TickState:
        """Go to the next capture; what warms up is over when the swarm flies."""
        del render
        return replace(self._frame().state, elapsed_s=self._step * self._plan.step_us / 1e6)

    def drivable(self) -> Any:
        """Return the lanes of the flight's town."""
        return np.asarray(self._kept.drivable)

    def opendrive(self) -> str:
        """Return nothing: no map is made here."""
        return ""

    def buildings(self) -> list[Building]:
        """Return none, for the same reason."""
        return []

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """Return where the drones were."""
        self._step = step
        return self._frame().drones

    def expect(self, sensors: Collection[Sensor], *, ticks: int) -> None:
        """Have no cameras to wake."""

    def place(self, poses: Sequence[SensorPose]) -> None:
        """Have no cameras to move."""

    def collect(self, state: TickState) -> ReadyReadings:
        """Return the capture's images."""
        del state
        return ReadyReadings(self._frame().readings)

    def close(self) -> None:
        """Hold nothing."""
