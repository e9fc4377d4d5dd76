"""One tick, frozen: everything that sensors read, so that the world may go on while they work."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from headless_simulator.carla import wire
from headless_simulator.carla.streams import Part, Subscriber
from headless_simulator.carla.versions import CarlaVersion
from headless_simulator.faults import Delivery
from headless_simulator.scene import Movers, UInt8, Weather
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import Pose6
from headless_simulator.world.renderer_like import RendererLike

Body: TypeAlias = tuple[Part, ...]  # what follows the header


@dataclass(frozen=True, slots=True)
class Moment:
    """The world at one tick, for images."""

    frame: int
    elapsed_s: float
    scene_s: float
    delta_s: float
    movers: Movers
    weather: Weather
    signals: UInt8
    renderer: RendererLike
    imu_gravity_mps2: float
    version: CarlaVersion


@dataclass(frozen=True, slots=True)
class Reading:
    """One sensor that is due.

    Attributes:
        actor: the sensor.
        pose: where it was at the tick.
        parent: the actor that it hangs on, if any.
        deliveries: how its frame leaves; one unless a fault is at work.
        readers: who listened at the tick; who comes while it is measured gets nothing of it.
        state: what its family took from the world under the lock.
        textures: an RGB camera's G-buffers that are read, and by whom.
    """

    actor: Actor
    pose: Pose6
    parent: Actor | None
    deliveries: tuple[Delivery, ...]
    readers: tuple[Subscriber, ...]
    state: Any = None
    textures: tuple[tuple[int, tuple[Subscriber, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Stamp:
    """A sensor's header; faults may make it lie."""

    frame: int
    elapsed_s: float
    pose: Pose6

    def header(self, blueprint: str) -> bytes:
        """Pack it."""
        return wire.SENSOR_HEADER.pack(wire.SENSOR_TYPE[blueprint], self.frame, self.elapsed_s, *self.pose)


@dataclass(frozen=True, slots=True)
class Measured:
    """One sensor's measurement: the parts after the header."""

    reading: Reading
    body: Body
