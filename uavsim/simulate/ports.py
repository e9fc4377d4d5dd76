"""The ports that a simulator backend implements; ``session.py`` uses nothing else of CARLA or AirSim.

A backend is a ``WorldPort`` (town, traffic, clock, ground truth), a ``SwarmPort`` (poses of the drones) and a ``SensorPort``
(measurements). ``backends.py`` lists the ports of the built-in topologies.
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

Heartbeat = Callable[[str, int], None]
"""Called with (phase, tick) at every progress; without it, the supervisor ends the process."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a server."""

    host: str
    port: int

    @staticmethod
    def parse(text: str, *, what: str) -> Endpoint:
        """Parse ``HOST:PORT``; ``what`` names the value in the message.

        Raises:
            InputError: the text has another form.
        """
        host, _, port = text.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise InputError(f"{what} {text!r} is not HOST:PORT")
        return Endpoint(host, int(port))


@dataclass(frozen=True, slots=True, eq=False)
class SensorPose:
    """The pose of a sensor at the next tick.

    Attributes:
        sensor: the sensor.
        ue_location_m: (3,) location in CARLA's frame, metres, exact in float32.
        ue_euler_deg: (roll, pitch, yaw) in CARLA's frame, degrees, exact in float32.
        map_SE3_optical: the same pose in the map frame; of any sensor, as if it were a forward-looking camera.
        velocity_map_mps: (3,) velocity of its agent in the map frame, m/s.
    """

    sensor: Sensor
    ue_location_m: FloatArray
    ue_euler_deg: tuple[float, float, float]
    map_SE3_optical: SE3
    velocity_map_mps: FloatArray

    @property
    def channel(self) -> str:
        """Channel of the sensor."""
        return self.sensor.channel

    @property
    def map_SE3_sensor(self) -> SE3:
        """The pose of the sensor's data frame: optical for cameras, flu for other sensors."""
        if self.sensor.spec.params.is_optical:
            return self.map_SE3_optical
        return unreal.map_SE3_flu_from_ue(self.ue_location_m, ue_euler_deg=np.array(self.ue_euler_deg))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A measurement of a sensor, verified to be of the requested tick and pose.

    Attributes:
        channel: channel of the sensor.
        modality: its name; ``records/modalities.py`` defines its array.
        data: an image (H, W) or (H, W, K), a cloud or a list (N, K), by modality; for a mask also (runs, tags).
        owner: the object that owns the memory of ``data``.
    """

    channel: str
    modality: str
    data: Any
    owner: object = None


class PendingReadings(Protocol):
    """The sensors' readings of a tick, which may not have arrived yet."""

    def wait(self) -> list[Reading]:
        """Return all readings; called once, from any thread, before the next tick.

        Raises:
            MissedTick: an image is missing, late, or of another tick or pose.
        """


@dataclass(frozen=True, slots=True, eq=False)
class ReadyReadings:
    """Readings of a tick that have arrived (``PendingReadings``)."""

    readings: list[Reading]

    def wait(self) -> list[Reading]:
        """See ``PendingReadings``."""
        return self.readings


@dataclass(frozen=True, slots=True, eq=False)
class TickState:
    """The world after one tick.

    Attributes:
        frame: the simulator's frame number.
        elapsed_s: the simulator's clock, seconds.
        lazy_actors: computes ``actors``; most ticks need none.
        motion: recorded motion of the actors; None if the backend reports none: such scenes cannot be replayed.
        carried: poses of the sensors that actors carry, in this tick.
    """

    frame: int
    elapsed_s: float
    lazy_actors: Callable[[], ActorStates]
    motion: TickMotion | None = None
    carried: tuple[SensorPose, ...] = ()

    @property
    def actors(self) -> ActorStates:
        """All labelled actors alive, sorted by instance id."""
        return self.lazy_actors()


@dataclass(frozen=True, slots=True)
class SceneTraffic:
    """The spawned actors of a scene.

    Attributes:
        actors: all actors that may be labelled.
        counts: (requested, spawned) by ``vehicles`` or ``walkers``; (0, 0) for missing ones. A replay adds measurements of the
            recorded traffic (``SessionFacts``).
        agents: ground agents: the actor that carries one, or its static pose.
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
        """The simulator's name in the dataset's origin; ``unreal`` if it gives none."""

    @property
    def map_name(self) -> str:
        """Name of the loaded map."""

    def prepare(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Load the plan's town if another is loaded, and take over the clock (synchronous, ``plan.step_us``)."""

    def populate(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> SceneTraffic:
        """Clear the last scene's actors and spawn ``plan.ingredients``, every random choice from ``plan.seed``."""

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        """Set the planned poses of a step, effective in the next tick; called before each tick.

        Args:
            step: step of the plan.
            drones: their states at the step; none during the warm-up.
        """

    def set_weather(self, values: Sequence[float]) -> None:
        """Set the 14 weather parameters in wire order."""

    def tick(self, *, captured: bool) -> TickState:
        """Advance one step and return the state of that very step.

        Args:
            captured: whether sensors are read in this tick.

        Raises:
            MissedTick: the snapshot is not of the requested tick.
        """

    def drivable(self) -> FloatArray:
        """Return (N, 4, 2) quadrilaterals, x, y in the map frame, metres, that cover the town's driving lanes."""

    def opendrive(self) -> str:
        """Return the town's OpenDRIVE text."""

    def buildings(self) -> list[Building]:
        """Return the town's buildings; none if the simulator does not list them."""

    def close(self) -> None:
        """Release the clock and remove all spawned actors."""


class SwarmPort(Protocol):
    """The drones' flight."""

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Move every drone to step 0."""

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """Fly to plan step ``step`` (one more than the last) and return the drones' states."""

    def close(self) -> None:
        """Release control of the drones."""


class SensorPort(Protocol):
    """The agents' sensors."""

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        """Prepare every sensor of the plan, reusing those of the last scene."""

    @property
    def images_drawn(self) -> int:
        """Number of images that the server sent since ``begin``, settling ones included."""

    def expect(self, step: int, poses: Sequence[SensorPose]) -> None:
        """Prepare the sensors of the scene's ``DrawSchedule`` to measure in the next tick, and no others.

        Args:
            step: step of the plan; negative in the warm-up. The measurements of all earlier steps have arrived.
            poses: poses of the sensors that no actor carries; they are moved there.
        """

    def stop(self) -> None:
        """Stop all sensors until the next ``expect``."""

    def collect(self, state: TickState) -> PendingReadings:
        """Return the readings of that tick; they must arrive before the next tick is expected.

        Raises:
            MissedTick: an image is missing, late, or of another pose.
        """

    def close(self) -> None:
        """Remove the sensors."""


@dataclass(frozen=True, slots=True, eq=False)
class Ports:
    """The three ports of a backend, connected."""

    world: WorldPort
    swarm: SwarmPort
    sensors: SensorPort
