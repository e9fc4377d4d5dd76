"""Methods about poses and motion of actors: physics, velocities, impulses."""

from typing import Any, Final

from headless_simulator.carla.actor_wire import box_wire
from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.carla.values import ActorId, Transform, Vec3, Vector
from headless_simulator.rpc.arguments import Anything, Flag
from headless_simulator.world.world import World


def set_actor_transform(world: World, actor_id: ActorId, pose: Transform) -> None:
    """Teleport to a pose (Unreal's axes, metres, degrees)."""
    world.teleport(world.actor(actor_id), pose)


def set_actor_location(world: World, actor_id: ActorId, location: Vector) -> None:
    """Teleport to a location, metres, and keep the rotation."""
    actor = world.actor(actor_id)
    c = world.table.c
    pose = (c.relative if c.parent[actor.row] >= 0 else c.pose)[actor.row].copy()
    pose[:3] = location
    world.teleport(actor, pose)


def set_actor_simulate_physics(world: World, actor_id: ActorId, on: Flag) -> None:
    """Switch an actor's physics on or off."""
    world.table.c.physics[world.actor(actor_id).row] = on


def set_actor_collisions(world: World, actor_id: ActorId, on: Flag) -> None:
    """Switch an actor's collisions on or off."""
    world.table.c.solid[world.actor(actor_id).row] = on


def set_actor_enable_gravity(world: World, actor_id: ActorId, on: Flag) -> None:
    """Switch an actor's gravity on or off."""
    world.table.c.gravity[world.actor(actor_id).row] = on


def set_actor_autopilot(world: World, actor_id: ActorId, on: Flag, *_port: Anything) -> None:
    """Record that the client's Traffic Manager drives: its last control stays in effect."""
    actor = world.actor(actor_id)
    world.table.c.sticky[actor.row] = on or actor.has_sticky_control


def set_actor_dead(world: World, actor_id: ActorId) -> None:
    """Accepted: a dead walker stays as it is."""
    world.actor(actor_id)


def set_actor_target_velocity(world: World, actor_id: ActorId, velocity: Vector) -> None:
    """Set the velocity, m/s in world axes."""
    row, c = world.actor(actor_id).row, world.table.c
    c.target[row], c.target_set[row] = velocity, 1


def set_actor_target_angular_velocity(world: World, actor_id: ActorId, velocity: Vector) -> None:
    """Set the yaw rate, deg/s; the ground determines the other axes."""
    row, c = world.actor(actor_id).row, world.table.c
    c.spin[row] = velocity[2]


def enable_actor_constant_velocity(world: World, actor_id: ActorId, velocity: Vector) -> None:
    """Hold a velocity, m/s, in the actor's frame; without an upward component, gravity acts as usual."""
    row, c = world.actor(actor_id).row, world.table.c
    c.constant[row] = (*velocity, 1.0)


def disable_actor_constant_velocity(world: World, actor_id: ActorId) -> None:
    """Release the held velocity."""
    world.table.c.constant[world.actor(actor_id).row] = 0.0


def _push(world: World, actor_id: int, impulse: Vec3, *, scale: float = 1.0) -> None:
    """Apply an impulse of ``impulse * scale``, N s."""
    row, c = world.actor(actor_id).row, world.table.c
    if c.mass[row] > 0:
        c.push[row] += [scale * v / c.mass[row] for v in impulse]


def _turn(world: World, actor_id: int, impulse: Vec3, *, scale: float = 1.0) -> None:
    """Apply an angular impulse about the vertical axis."""
    row, c = world.actor(actor_id).row, world.table.c
    if c.mass[row] > 0:
        c.spin[row] += scale * impulse[2] / c.mass[row]


def add_actor_impulse(world: World, actor_id: ActorId, impulse: Vector) -> None:
    """Apply an impulse, N s."""
    _push(world, actor_id, impulse)


def add_actor_impulse_at_location(world: World, actor_id: ActorId, impulse: Vector, _location: Anything) -> None:
    """Apply an impulse, N s; the location has no effect here."""
    _push(world, actor_id, impulse)


def add_actor_force(world: World, actor_id: ActorId, force: Vector) -> None:
    """Apply a force for one tick, N."""
    _push(world, actor_id, force, scale=world.delta_s)


def add_actor_force_at_location(world: World, actor_id: ActorId, force: Vector, _location: Anything) -> None:
    """Apply a force for one tick, N; the location has no effect here."""
    _push(world, actor_id, force, scale=world.delta_s)


def add_actor_angular_impulse(world: World, actor_id: ActorId, impulse: Vector) -> None:
    """Apply an angular impulse."""
    _turn(world, actor_id, impulse)


def add_actor_torque(world: World, actor_id: ActorId, torque: Vector) -> None:
    """Apply a torque for one tick."""
    _turn(world, actor_id, torque, scale=world.delta_s)


def get_actor_bounding_box(world: World, actor_id: ActorId) -> list[Any]:
    """Return the box in the actor's frame, also of a destroyed actor, because an error here aborts a client's thread."""
    return box_wire(world.actor_or_destroyed(actor_id))


METHODS: Final[tuple[CarlaMethod[World], ...]] = declared(__name__)
