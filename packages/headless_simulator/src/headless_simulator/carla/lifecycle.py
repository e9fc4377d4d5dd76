"""Spawning and destruction of actors: blueprint checks, injected faults, and streams of sensors."""

from typing import Final

from headless_simulator.carla import blueprints
from headless_simulator.carla.sensors.hub import Sensors
from headless_simulator.carla.streams import Streams
from headless_simulator.carla.values import ActorDescription
from headless_simulator.errors import CallRefused
from headless_simulator.faults import Faults
from headless_simulator.world.actors import Actor, SpawnOrder
from headless_simulator.world.pose import Pose6
from headless_simulator.world.table import LIGHT, SENSOR, SIGN, SPECTATOR
from headless_simulator.world.world import World

_LARGEST_IMAGE: Final = 8192
_MOST_PIXELS: Final = 34_000_000  # of one image
_MOST_PIXELS_TOGETHER: Final = 600_000_000  # of the images of all cameras that live
MOST_ACTORS: Final = 10_000
_STREAMLESS: Final = frozenset({"sensor.other.lane_invasion"})  # works in the client
_SILENT: Final = frozenset({"sensor.other.rss"})  # for clients built with it; an empty stream


class ActorLifecycle:
    """Spawns and destroys actors with their streams and sensors.

    Args:
        world: the actors' world.
        streams: the sensors' streams.
        sensors: registry of measuring sensors.
        faults: faults to inject.
    """

    def __init__(self, world: World, *, streams: Streams, sensors: Sensors, faults: Faults) -> None:
        self.world, self.streams = world, streams
        self._sensors, self._faults = sensors, faults

    def spawn(self, description: ActorDescription, pose: Pose6, *, parent: int = 0, attachment: int = 0) -> Actor:
        """Spawn the described actor.

        Raises:
            CallRefused: unknown blueprint, bad attribute, or occupied spawn point.
        """
        name = blueprints.model(self.streams.version, description.blueprint)
        if len(self.world.actors) >= MOST_ACTORS:
            raise CallRefused(
                f"the world has {len(self.world.actors)} actors of at most {MOST_ACTORS}; destroy some first"
            )
        attributes = blueprints.complete(name, description.attributes)
        pixels = _check_image(name, attributes)
        if pixels + self._sensors.pixels > _MOST_PIXELS_TOGETHER:
            raise CallRefused(
                f"{name}: all cameras together would exceed {_MOST_PIXELS_TOGETHER} pixels; use smaller images"
            )
        self._faults.before_spawn(name)
        order = SpawnOrder(
            name,
            pose=pose,
            attributes=attributes,
            parent_id=parent,
            attachment=attachment,
            description=description.wire(),
        )
        actor = self.world.spawn(order)
        if actor.kind == SENSOR and name not in _STREAMLESS:
            actor.stream_id = self.streams.new()
            if name not in _SILENT:
                self._sensors.add(actor)
        return actor

    def destroy(self, actor_id: int) -> None:
        """Destroy an actor and end its sensor.

        Raises:
            CallRefused: the actor is part of the town.
            NoSuchActor: there is no such actor.
        """
        actor = self.world.actor(actor_id)
        if actor.kind in (LIGHT, SIGN, SPECTATOR):
            raise CallRefused(f"actor {actor_id} ({actor.blueprint}) is part of the town and cannot be destroyed")
        self.world.destroy(actor_id)
        self._sensors.remove(actor)


def _check_image(name: str, attributes: dict[str, str]) -> int:
    """Check a camera's image size; returns its number of pixels, 0 for other blueprints."""
    if not name.startswith("sensor.camera."):
        return 0
    for key in ("image_size_x", "image_size_y"):
        text = attributes.get(key, "")
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= _LARGEST_IMAGE:
            raise CallRefused(f"{name}: {key} must be 1 to {_LARGEST_IMAGE}, not {text!r:.40}")
    try:
        fov = float(attributes["fov"])
    except ValueError:
        fov = 0.0
    if not 0.1 <= fov <= 175.0:
        raise CallRefused(f"{name}: fov must be 0.1 to 175 degrees, not {attributes['fov']!r:.40}")
    pixels = int(attributes["image_size_x"]) * int(attributes["image_size_y"])
    if pixels > _MOST_PIXELS:
        raise CallRefused(f"{name}: the image has {pixels} pixels, more than {_MOST_PIXELS}; choose a smaller one")
    return pixels
