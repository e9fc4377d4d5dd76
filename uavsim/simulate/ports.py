"""The ports that a simulator backend must offer; ``session.py`` knows nothing else of CARLA or AirSim.

A backend is a ``WorldPort`` (town, traffic, clock, truth), a ``SwarmPort`` (where the drones are) and a ``SensorPort``
(measurements). ``backends.py`` says which of them is behind each port in the three topologies of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from uavsim.errors import InputError
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.motion import TickMotion
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates, DroneState
from uavsim.records.road_map import Building
from uavsim.records.sensors import Agent, Sensor
from uavsim.typing import FloatArray

__all__ = [
    "Endpoint",
    "Heartbeat",
    "PendingReadings",
    "Ports",
    "Reading",
    "ReadyReadings",
    "SceneTraffic",
    "SensorPort",
    "SensorPose",
    "SwarmPort",
    "TickState",
    "WorldPort",
]

Heartbeat = Callable[[str, int], None]
"""Called with (phase, tick) whenever there is progress; a supervisor that hears none ends the process."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a server."""

    host: str
    port: int

    @staticmethod
    def parse(text: str, *, what: str) -> Endpoint:
        """Read ``HOST:PORT``.

        Raises:
            InputError: not of that form.
        """
        host, _, port = text.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise InputError(f"{what} {text!r} is not HOST:PORT")
        return Endpoint(host, int(port))


@dataclass(frozen=True, slots=True, eq=False)
class SensorPose:
    """The place of one sensor at the next tick.

    Attributes:
        ue_location_m: (3,) float32-exact location in the simulator's frame.
        ue_euler_deg: (roll, pitch, yaw) float32-exact, the simulator's frame.
        map_SE3_optical: the same pose in our frame, of any sensor as if it were a camera that looks forward.
        velocity_map_mps: (3,) of the agent that carries it.
    """

    sensor: Sensor
    ue_location_m: FloatArray
    ue_euler_deg: tuple[float, float, float]
    map_SE3_optical: SE3
    velocity_map_mps: FloatArray

    @property
    def channel(self) -> str:
        """Of the sensor."""
        return self.sensor.channel

    @property
    def map_SE3_sensor(self) -> SE3:
        """The frame of the sensor's data: optical of a camera, else the sensor's own flu."""
        if self.sensor.spec.params.is_optical:
            return self.map_SE3_optical
        return unreal.map_SE3_flu_from_ue(self.ue_location_m, ue_euler_deg=np.array(self.ue_euler_deg))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The data of one sensor, proven to be of the tick and pose asked for.

    Attributes:
        modality: name of it; ``records/modalities.py`` says what its array holds.
        data: an image (H, W) or (H, W, K), a cloud or a list (N, K), as the modality has it; of a mask also runs and tags.
        owner: whatever keeps ``data`` alive.
    """

    channel: str
    modality: str
    data: Any
    owner: object = None


class PendingReadings(Protocol):
    """The sensors' readings of one tick, which may still be on their way."""

    def wait(self) -> list[Reading]:
        """Return everything that was read; asked for once, from any thread, before the next tick.

        Raises:
            MissedTick: an image is missing, late, or not of the tick and pose asked for.
        """


@dataclass(frozen=True, slots=True, eq=False)
class ReadyReadings:
    """Readings of a tick that are here already (``PendingReadings``)."""

    readings: list[Reading]

    def wait(self) -> list[Reading]:
        """See ``PendingReadings``."""
        return self.readings


@dataclass(frozen=True, slots=True, eq=False)
class TickState:
    """The world after one tick.

    Attributes:
        frame: the simulator's frame number.
        elapsed_s: the simulator's clock.
        seen: gives ``actors``; evaluated lazily, for most ticks need none.
        motion: what is recorded of them; None where a backend reports none, and its scenes cannot be replayed.
        carried: where sensors that actors carry were in this tick, by their actors.
    """

    frame: int
    elapsed_s: float
    seen: Callable[[], ActorStates]
    motion: TickMotion | None = None
    carried: tuple[SensorPose, ...] = ()

    @property
    def actors(self) -> ActorStates:
        """Every labelled actor alive, rows sorted by instance id."""
        return self.seen()


@dataclass(frozen=True, slots=True)
class SceneTraffic:
    """The spawned actors of a scene.

    Attributes:
        actors: everything that is labelled, or may be.
        counts: (asked for, spawned) by ``vehicles`` or ``walkers``; (0, 0) of what is not there. A replay's also hold what
            was measured of the recorded traffic (``SessionFacts``).
        agents: where the agents beside the drones are: the actor that carries one, or where it stands.
    """

    actors: tuple[ActorInfo, ...] = ()
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    agents: Mapping[Agent, ActorInfo | SE3] = field(default_factory=dict)


class WorldPort(Protocol):
    """The town, its traffic and its clock."""

    client_version: str
    server_version: str

    @property
    def kind(self) -> str:
        """The name under which the simulator is recorded as the dataset's origin; ``unreal`` where it gives none."""

    @property
    def map_name(self) -> str:
        """The loaded map."""

    def prepare(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Load the plan's town when another is loaded, and take over the clock (synchronous, ``plan.step_us``)."""

    def populate(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> SceneTraffic:
        """Clear the last scene's actors and spawn ``plan.ingredients``, every random choice from ``plan.seed``."""

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        """Put whatever the plan places where it is at a step, in the next tick; asked for before each.

        Args:
            step: of the plan.
            drones: where they are then; none while the traffic comes to speed.
        """

    def set_weather(self, values: Sequence[float]) -> None:
        """Set the 14 parameters in wire order."""

    def tick(self, *, captured: bool) -> TickState:
        """Advance one step and return the state of that very step.

        Args:
            captured: sensors are read in this tick.

        Raises:
            MissedTick: the snapshot is not of the tick that was asked for.
        """

    def drivable(self) -> FloatArray:
        """Return (N, 4, 2) map quadrilaterals that cover the town's driving lanes."""

    def opendrive(self) -> str:
        """Return the town's OpenDRIVE text."""

    def buildings(self) -> list[Building]:
        """Return the town's buildings; none where the simulator does not list them."""

    def close(self) -> None:
        """Give the clock back and remove what was spawned."""


class SwarmPort(Protocol):
    """The drones' flight."""

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Put every drone at step 0."""

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """Fly to plan step ``step`` (one more than the last) and return where the drones are then."""

    def close(self) -> None:
        """Release control of the drones."""


class SensorPort(Protocol):
    """The port of the agents' sensors."""

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        """Have every sensor of the plan ready; those that are there from the last scene are kept."""

    @property
    def images_drawn(self) -> int:
        """Images that the server sent since ``begin``, settling ones included."""

    def expect(self, step: int, poses: Sequence[SensorPose]) -> None:
        """Have exactly those measure in the next tick that the scene's ``DrawSchedule`` names for it.

        Args:
            step: of the plan; below 0 in the warm-up. The measurements of all steps before are here.
            poses: of the sensors of agents beside those that actors carry; they are moved there.
        """

    def stop(self) -> None:
        """Have no sensor measure until ``expect`` asks for it."""

    def collect(self, state: TickState) -> PendingReadings:
        """Return what is read in that tick, or will be; it must be here before the next tick is expected.

        Raises:
            MissedTick: an image is missing, late, or not of the pose asked for.
        """

    def close(self) -> None:
        """Remove the sensors."""


@dataclass(frozen=True, slots=True, eq=False)
class Ports:
    """The three ports of a backend, connected."""

    world: WorldPort
    swarm: SwarmPort
    sensors: SensorPort
