"""Event-based sensors: collision and obstacle."""

from typing import Any, Final

import msgpack

from headless_simulator.carla.actor_wire import actor_wire
from headless_simulator.carla.sensors.moment import Body, Moment, Reading
from headless_simulator.carla.sensors.rays import nearest_obstacle
from headless_simulator.carla.streams import Streams
from headless_simulator.world.actors import Actor
from headless_simulator.world.world import World

COLLISION: Final = "sensor.other.collision"


def pack(value: Any) -> bytes:
    """Pack for the client's deserializer."""
    packed: bytes = msgpack.packb(value, use_bin_type=True, unicode_errors="surrogateescape")
    return packed


def town_part(name: str) -> list[Any]:
    """Describe a part of the town as an actor: id 0."""
    kind = name.split("_")[0].lower() or "unknown"
    return [0, 0, [0, f"static.{kind}", []], [[0.0] * 3, [0.0] * 3, [0.0] * 3, 0], b"\x00", b""]


def gather_collision(world: World, actor: Actor, _delta_s: float) -> list[tuple[int, str, tuple[float, float, float]]]:
    """Return the bodies that hit the sensor's owner in this tick, each once."""
    touches = {t.other_id or t.other_name: t for t in world.touches if t.actor_id == actor.parent_id}
    return [(t.other_id, t.other_name, t.impulse) for t in touches.values()]


def collision(world: World, streams: Streams, reading: Reading, _moment: Moment) -> list[Body]:
    """Return [owner, other, impulse], one message per hit body."""
    if reading.parent is None:
        return []
    out: list[Body] = []
    for other_id, name, impulse in reading.state:
        other = world.actors.get(other_id)
        other_wire = actor_wire(other, streams) if other else town_part(name)
        out.append((pack([actor_wire(reading.parent, streams), other_wire, list(impulse)]),))
    return out


def obstacle(world: World, streams: Streams, reading: Reading, moment: Moment) -> list[Body]:
    """Return [owner, other, distance] while an obstacle is ahead."""
    found = nearest_obstacle(reading, moment)
    if found is None:
        return []
    distance_m, other_id = found
    other = world.actors.get(other_id)
    owner = actor_wire(reading.parent or reading.actor, streams)
    return [(pack([owner, actor_wire(other, streams) if other else town_part("unknown"), distance_m]),)]
