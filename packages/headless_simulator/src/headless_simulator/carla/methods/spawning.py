"""Methods that spawn, destroy and describe actors."""

from typing import Any, Final

from headless_simulator.carla.actor_wire import actor_wire
from headless_simulator.carla.lifecycle import ActorLifecycle
from headless_simulator.carla.method import CarlaMethod, Traits, declared
from headless_simulator.carla.sensors import radio
from headless_simulator.carla.values import ActorId, Description, Transform
from headless_simulator.rpc.arguments import Anything, Integer, Integers, Text


def get_actors_by_id(lifecycle: ActorLifecycle, ids: Integers) -> list[Any]:
    """Describe actors; unknown ids are omitted."""
    found = (lifecycle.world.actors.get(number) for number in dict.fromkeys(ids))
    return [actor_wire(actor, lifecycle.streams) for actor in found if actor is not None]


def spawn_actor(lifecycle: ActorLifecycle, description: Description, pose: Transform) -> list[Any]:
    """Spawn an actor in the world."""
    return actor_wire(lifecycle.spawn(description, pose), lifecycle.streams)


def spawn_actor_with_parent(
    lifecycle: ActorLifecycle,
    description: Description,
    pose: Transform,
    parent: ActorId,
    attachment: Integer = 0,
    *_socket: Anything,
) -> list[Any]:
    """Spawn an actor attached to another one; the socket name is ignored."""
    actor = lifecycle.spawn(description, pose, parent=parent, attachment=attachment)
    return actor_wire(actor, lifecycle.streams)


def destroy_actor(lifecycle: ActorLifecycle, actor_id: ActorId) -> bool:
    """Destroy an actor."""
    lifecycle.destroy(actor_id)
    return True


def send(lifecycle: ActorLifecycle, actor_id: ActorId, message: Text) -> None:
    """Send a custom message by radio."""
    radio.send(lifecycle.world.actor(actor_id), message)


_SPAWNS: Final = Traits(is_spawn=True)
METHODS: Final[tuple[CarlaMethod[ActorLifecycle], ...]] = declared(
    __name__, spawn_actor=_SPAWNS, spawn_actor_with_parent=_SPAWNS
)
