"""``apply_batch``: many commands in one call, each answered for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from headless_simulator.carla import actor_methods as actors
from headless_simulator.carla import light_methods as lights
from headless_simulator.carla import values, wire
from headless_simulator.carla import vehicle_methods as vehicles
from headless_simulator.carla.registry import method
from headless_simulator.carla.values import BadArgument, CallFailed
from headless_simulator.world.actors import NoSuchActor

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

LARGEST_BATCH: Final = 100_000
_SPAWN: Final = 0
_DESTROY: Final = 1
_CONSOLE: Final = 20


def _walker_state(server: CarlaServer, actor_id: int, pose: Any, speed: Any) -> None:
    """Place a walker where the client's navigation wants its feet; its own origin is the body's centre."""
    actor = server.world.actor(actor_id)
    x, y, z, pitch, yaw, roll = values.transform(pose)
    server.world.place(actor, (x, y, z + actor.half_m[2], pitch, yaw, roll))
    actor.walk_speed = values.number(speed)


def _telemetry(server: CarlaServer, actor_id: int, _on: Any) -> None:
    server.world.actor(actor_id)


# the command's number on the wire -> what it does with (server, actor id, rest of the body)
_APPLY: Final[dict[int, Callable[..., Any]]] = {
    2: vehicles.apply_control_to_vehicle,
    3: vehicles.apply_ackermann_control_to_vehicle,
    4: vehicles.apply_control_to_walker,
    5: vehicles.apply_physics_control,
    6: actors.set_actor_transform,
    7: _walker_state,
    8: actors.set_actor_target_velocity,
    9: actors.set_actor_target_angular_velocity,
    10: actors.add_actor_impulse,
    11: actors.add_actor_force,
    12: actors.add_actor_angular_impulse,
    13: actors.add_actor_torque,
    14: actors.set_actor_simulate_physics,
    15: actors.set_actor_enable_gravity,
    16: lambda server, actor_id, *_: actors.set_actor_autopilot(server, actor_id, True),
    17: _telemetry,
    18: vehicles.set_vehicle_light_state,
    19: actors.set_actor_location,
    21: lights.set_traffic_light_state,
}


@method("apply_batch", bare=True)
def apply_batch(server: CarlaServer, commands: list[Any], do_tick: bool = False) -> list[Any]:
    """Carry out commands in order; the answer is a bare list of responses."""
    rows = values.items(commands, what="commands")
    if len(rows) > LARGEST_BATCH:
        raise CallFailed(f"a batch of {len(rows)} commands is more than {LARGEST_BATCH}")
    with server.world.lock:
        answers = [_answer(server, row) for row in rows]
    if values.flag(do_tick) and server.settings.synchronous:
        server.tick()
    return answers


def _answer(server: CarlaServer, command: Any) -> list[Any]:
    try:
        return wire.ok(_carry_out(server, command))
    except NoSuchActor:
        return wire.error("actor not found")
    except (CallFailed, BadArgument) as refusal:
        return wire.error(str(refusal))
    except (TypeError, ValueError, IndexError, OverflowError) as problem:
        return wire.error(f"a command that cannot be read: {problem}")


def _carry_out(server: CarlaServer, command: Any, spawned: int | None = None) -> int:
    kind, body = values.items(values.items(command, least=1)[0], least=2, what="command")[:2]
    body = values.items(body, what="command body")
    if kind == _SPAWN:
        return _spawn(server, body)
    if kind == _CONSOLE:
        return 0  # a console command: there is no console
    actor_id = spawned if spawned is not None else values.actor_id(body[0])
    if kind == _DESTROY:
        actors.destroy(server, actor_id)
    elif kind in _APPLY:
        _APPLY[kind](server, actor_id, *body[1:])
    else:
        raise CallFailed(f"command {kind!r} is not known")
    return actor_id


def _spawn(server: CarlaServer, body: list[Any]) -> int:
    description, pose, parent, attachment = body[:4]
    parent_id = values.optional(parent)
    actor = actors.spawn(
        server,
        description,
        pose,
        parent=values.actor_id(parent_id) if parent_id else 0,
        attachment=values.integer(attachment),
    )
    for after in values.items(body[5]) if len(body) > 5 else ():
        _carry_out(server, after, actor.actor_id)
    return actor.actor_id
