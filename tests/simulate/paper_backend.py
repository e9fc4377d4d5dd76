"""A backend of another package, as in docs/how-to-add-a-backend.md: no server, no traffic, patterns for images."""

from collections.abc import Mapping, Sequence

import numpy as np

from uavsim.config.backends import Backend
from uavsim.config.deadlines import Deadlines
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorStates, DroneState
from uavsim.records.road_map import Building
from uavsim.simulate.draw_schedule import DrawSchedule
from uavsim.simulate.ports import (
    Endpoint,
    Heartbeat,
    Ports,
    Reading,
    ReadyReadings,
    SceneTraffic,
    SensorPose,
    TickState,
)
from uavsim.simulate.swarm import PlannedSwarm
from uavsim.typing import FloatArray

__all__ = ["PAPER", "paper"]

PAPER = Backend("paper", (), "paper_backend:paper")


def paper(endpoints: Mapping[str, Endpoint], deadlines: Deadlines) -> Ports:
    """Return stub ports."""
    del endpoints, deadlines
    return Ports(PaperWorld(), PlannedSwarm(), PaperSensors())


class PaperWorld:
    """A ``WorldPort`` of an empty town with an exact clock."""

    client_version = server_version = "1"
    kind = "paper"
    map_name = "none"

    def prepare(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        heartbeat("load", 0)
        self.map_name, self._step_s, self._frame = plan.town.carla_map, plan.step_us / 1e6, 0

    def populate(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> SceneTraffic:
        heartbeat("spawn", 0)
        return SceneTraffic()

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        pass

    def set_weather(self, values: Sequence[float]) -> None:
        pass

    def tick(self, *, captured: bool) -> TickState:
        self._frame += 1
        return TickState(self._frame, self._frame * self._step_s, nobody)

    def drivable(self) -> FloatArray:
        return np.array([[[-50.0, -2.0], [50.0, -2.0], [50.0, 2.0], [-50.0, 2.0]]])

    def opendrive(self) -> str:
        return ""

    def buildings(self) -> list[Building]:
        return []

    def close(self) -> None:
        pass


class PaperSensors:
    """A ``SensorPort`` with a distinct pattern per channel and tick, and empty masks."""

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        del traffic
        self._schedule, self.images_drawn = DrawSchedule(plan), 0

    def expect(self, step: int, poses: Sequence[SensorPose]) -> None:
        self._poses = [pose for pose in poses if pose.sensor in self._schedule.reading.get(step, ())]

    def stop(self) -> None:
        pass

    def collect(self, state: TickState) -> ReadyReadings:
        images = []
        for number, pose in enumerate(self._poses):
            camera = pose.sensor.spec.camera
            shape = (camera.height_px, camera.width_px, 3)
            pattern = np.random.default_rng((state.frame, number)).integers(0, 255, shape, dtype=np.uint8)
            images.append(Reading(pose.channel, "rgb", pattern))
            images.append(Reading(pose.channel, "instance", np.zeros(shape, dtype=np.uint8)))
        self.images_drawn += len(images)
        return ReadyReadings(images)

    def close(self) -> None:
        pass


def nobody() -> ActorStates:
    """Return the states of no actor."""
    none = np.zeros((0, 3))
    return ActorStates(np.zeros(0, dtype=np.int64), SE3(np.zeros((0, 4)), none), none, none, none, none)
