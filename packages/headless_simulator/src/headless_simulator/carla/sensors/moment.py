"""An immutable copy of the sensors' inputs at one tick, so that the world can continue while they measure."""

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

Body: TypeAlias = tuple[Part, ...]  # the data after the header


@dataclass(frozen=True, slots=True)
class Moment:
    """The world at one tick, for images; ``signals`` has the (S,) states of traffic lights."""

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
    """One due sensor.

    Attributes:
        actor: the sensor.
        pose: its pose at the tick (Unreal's axes, metres, degrees).
        parent: the actor it is attached to, if any.
        deliveries: deliveries of its frame; one without an injected fault.
        readers: subscribers at the tick; later ones do not get this measurement.
        state: data that its family copied from the world under the lock.
        textures: an RGB camera's subscribed G-buffers with their readers.
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
    """A sensor's header; faults may falsify it."""

    frame: int
    elapsed_s: float
    pose: Pose6

    def header(self, blueprint: str) -> bytes:
        """Pack the header."""
        return wire.SENSOR_HEADER.pack(wire.SENSOR_TYPE[blueprint], self.frame, self.elapsed_s, *self.pose)


@dataclass(frozen=True, slots=True)
class Measured:
    """One sensor's measurement: the parts after the header."""

    reading: Reading
    body: Body
