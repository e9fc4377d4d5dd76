"""RPC methods about any actor: spawn, destroy, place, push."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headless_simulator.carla import blueprints, values
from headless_simulator.carla.registry import method
from headless_simulator.carla.values import CallFailed
from headless_simulator.faults import SpawnFault
from headless_simulator.world.actors import Actor, SpawnOrder, SpawnRefused
from headless_simulator.world.table import LIGHT, SENSOR, SIGN, SPECTATOR

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

_LARGEST_IMAGE = 8192
_STREAMLESS = frozenset({"sensor.other.lane_invasion"})  # works in the client


def spawn(server: CarlaServer, description: Any, pose: Any, *, parent: int = 0, attachment: int = 0) -> Actor:
    """Spawn from the wire's description.

    Raises:
        CallFailed: unknown blueprint, bad attribute, or the place is taken.
    """
    uid, name, rows = values.items(description, least=3, what="actor description")[:3]
    name = values.text(name)
    if not blueprints.known(name):
        raise CallFailed(f"actor definition {name!r} not found: it is not in this server's blueprint library")
    given = {values.text(row[0]): values.text(row[2]) for row in (values.items(r, least=3) for r in values.items(rows))}
    attributes = blueprints.complete(name, given)
    _check_image(name, attributes)
    try:
        server.faults.before_spawn(name)
    except SpawnFault as refusal:
        raise CallFailed(str(refusal)) from None
    order = SpawnOrder(
        name,
        pose=values.transform(pose),
        attributes=attributes,
        parent_id=parent,
        attachment=attachment,
        description=[values.integer(uid), name, rows],
    )
    try:
        actor = server.world.spawn(order)
    except SpawnRefused as refusal:
        raise CallFailed(str(refusal)) from None
    if actor.kind == SENSOR and name not in _STREAMLESS:
        actor.stream_id = server.streams.new()
        server.sensors.add(actor)
    return actor


def _check_image(name: str, attributes: dict[str, str]) -> None:
    if not name.startswith("sensor.camera."):
        return
    for key in ("image_size_x", "image_size_y"):
        text = attributes.get(key, "")
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= _LARGEST_IMAGE:
            raise CallFailed(f"{name}: {key} is {text!r:.40}, not 1 to {_LARGEST_IMAGE}")
    try:
        fov = float(attributes["fov"])
    except ValueError:
        fov = 0.0
    if not 0.1 <= fov <= 175.0:
        raise CallFailed(f"{name}: fov is {attributes['fov']!r:.40}, not 0.1 to 175 degrees")


@method("get_actors_by_id")
def get_actors_by_id(server: CarlaServer, ids: list[int]) -> list[Any]:
    """Describe actors; ids that nobody has are left out."""
    found = (server.world.actors.get(values.actor_id(i)) for i in values.items(ids))
    return [server.actor_wire(actor) for actor in found if actor is not None]


@method("spawn_actor")
def spawn_actor(server: CarlaServer, description: list[Any], pose: list[Any]) -> list[Any]:
    """Spawn an actor in the world."""
    return server.actor_wire(spawn(server, description, pose))


@method("spawn_actor_with_parent")
def spawn_actor_with_parent(
    server: CarlaServer, description: list[Any], pose: list[Any], parent: int, *rest: Any
) -> list[Any]:
    """Spawn an actor that hangs on another; ``rest`` is the attachment and a socket's name, which is ignored."""
    attachment = values.integer(rest[0]) if rest else 0
    return server.actor_wire(spawn(server, description, pose, parent=values.actor_id(parent), attachment=attachment))


@method("destroy_actor")
def destroy_actor(server: CarlaServer, actor_id: int) -> bool:
    """Destroy an actor."""
    destroy(server, values.actor_id(actor_id))
    return True


def destroy(server: CarlaServer, actor_id: int) -> None:
    """Destroy an actor and end its sensor."""
    actor = server.world.actor(actor_id)
    if actor.kind in (LIGHT, SIGN, SPECTATOR):
        raise CallFailed(f"actor {actor_id} ({actor.blueprint}) is part of the town and cannot be destroyed")
    server.world.destroy(actor_id)
    server.sensors.remove(actor)


@method("set_actor_transform", void=True)
def set_actor_transform(server: CarlaServer, actor_id: int, pose: list[Any]) -> None:
    """Teleport."""
    server.world.place(server.world.actor(actor_id), values.transform(pose))


@method("set_actor_location", void=True)
def set_actor_location(server: CarlaServer, actor_id: int, location: list[Any]) -> None:
    """Teleport without turning."""
    actor = server.world.actor(actor_id)
    c = server.world.table.c
    old = c.relative[actor.row] if c.parent[actor.row] >= 0 else c.pose[actor.row]
    pose = old.copy()
    pose[:3] = values.vector(location)
    server.world.place(actor, pose)


@method("set_actor_simulate_physics", void=True)
def set_actor_simulate_physics(server: CarlaServer, actor_id: int, on: bool) -> None:
    """Let the engine move an actor, or not."""
    server.world.table.c.physics[server.world.actor(actor_id).row] = values.flag(on)


@method("set_actor_collisions", void=True)
def set_actor_collisions(server: CarlaServer, actor_id: int, on: bool) -> None:
    """Let others feel an actor, or not."""
    server.world.table.c.solid[server.world.actor(actor_id).row] = values.flag(on)


@method("set_actor_enable_gravity", void=True)
def set_actor_enable_gravity(server: CarlaServer, actor_id: int, on: bool) -> None:
    """Let an actor fall, or not."""
    server.world.table.c.gravity[server.world.actor(actor_id).row] = values.flag(on)


@method("set_actor_autopilot", void=True)
def set_actor_autopilot(server: CarlaServer, actor_id: int, _on: bool) -> None:
    """Accepted: the Traffic Manager in the client drives."""
    server.world.actor(actor_id)


@method("set_actor_dead", void=True)
def set_actor_dead(server: CarlaServer, actor_id: int) -> None:
    """Accepted: a dead walker stays as it is."""
    server.world.actor(actor_id)


@method("set_actor_target_velocity", void=True)
def set_actor_target_velocity(server: CarlaServer, actor_id: int, velocity: list[float]) -> None:
    """Set the velocity, m/s in world axes."""
    row, c = server.world.actor(actor_id).row, server.world.table.c
    c.target[row], c.target_set[row] = values.vector(velocity), 1


@method("set_actor_target_angular_velocity", void=True)
def set_actor_target_angular_velocity(server: CarlaServer, actor_id: int, velocity: list[float]) -> None:
    """Set the yaw rate, deg/s; the other axes stay with the ground."""
    row, c = server.world.actor(actor_id).row, server.world.table.c
    c.spin[row] = values.vector(velocity)[2]


@method("enable_actor_constant_velocity", void=True)
def enable_actor_constant_velocity(server: CarlaServer, actor_id: int, velocity: list[float]) -> None:
    """Hold a velocity in the actor's own frame; vehicles hold its forward part."""
    row, c = server.world.actor(actor_id).row, server.world.table.c
    c.constant[row] = (*values.vector(velocity), 1.0)


@method("disable_actor_constant_velocity", void=True)
def disable_actor_constant_velocity(server: CarlaServer, actor_id: int) -> None:
    """Hold no velocity."""
    server.world.table.c.constant[server.world.actor(actor_id).row] = 0.0


def push(server: CarlaServer, actor_id: int, impulse: Any, *, scale: float = 1.0) -> None:
    """Give an actor a push of ``impulse * scale`` newton seconds."""
    row, c = server.world.actor(actor_id).row, server.world.table.c
    if c.mass[row] > 0:
        c.push[row] += [scale * v / c.mass[row] for v in values.vector(impulse)]


def turn(server: CarlaServer, actor_id: int, impulse: Any, *, scale: float = 1.0) -> None:
    """Give an actor a turn about its vertical axis."""
    row, c = server.world.actor(actor_id).row, server.world.table.c
    if c.mass[row] > 0:
        c.spin[row] += scale * values.vector(impulse)[2] / c.mass[row]


@method("add_actor_impulse", void=True)
def add_actor_impulse(server: CarlaServer, actor_id: int, impulse: list[float]) -> None:
    """Push once, N s."""
    push(server, actor_id, impulse)


@method("add_actor_impulse_at_location", void=True)
def add_actor_impulse_at_location(server: CarlaServer, actor_id: int, impulse: list[float], _at: list[float]) -> None:
    """Push once; where does not matter here."""
    push(server, actor_id, impulse)


@method("add_actor_force", void=True)
def add_actor_force(server: CarlaServer, actor_id: int, force: list[float]) -> None:
    """Push for one tick, N."""
    push(server, actor_id, force, scale=server.world.delta_s)


@method("add_actor_force_at_location", void=True)
def add_actor_force_at_location(server: CarlaServer, actor_id: int, force: list[float], _at: list[float]) -> None:
    """Push for one tick; where does not matter here."""
    push(server, actor_id, force, scale=server.world.delta_s)


@method("add_actor_angular_impulse", void=True)
def add_actor_angular_impulse(server: CarlaServer, actor_id: int, impulse: list[float]) -> None:
    """Turn once."""
    turn(server, actor_id, impulse)


@method("add_actor_torque", void=True)
def add_actor_torque(server: CarlaServer, actor_id: int, torque: list[float]) -> None:
    """Turn for one tick."""
    turn(server, actor_id, torque, scale=server.world.delta_s)


@method("get_actor_bounding_box")
def get_actor_bounding_box(server: CarlaServer, actor_id: int) -> list[Any]:
    """The box in the actor's frame; of a destroyed one too, for an error here aborts a client's thread."""
    return server.box_wire(server.world.actor_or_grave(values.actor_id(actor_id)))
