"""``apply_batch``: many commands in one call, with one answer each."""

import time
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headless_simulator.carla import wire
from headless_simulator.carla.clock import Clock
from headless_simulator.carla.episode import Episode
from headless_simulator.carla.lifecycle import ActorLifecycle
from headless_simulator.carla.method import CarlaMethod, Traits, call
from headless_simulator.carla.methods import lights, motion, vehicles
from headless_simulator.carla.values import ActorId, Transform, description, optional, transform
from headless_simulator.errors import CallRefused, ClientError
from headless_simulator.rpc.arguments import Anything, Array, Flag, Number, array, integer
from headless_simulator.rpc.methods import InternalError, internal_error
from headless_simulator.terminal import note_bug
from headless_simulator.world.actors import NoSuchActor
from headless_simulator.world.world import World

LARGEST_BATCH: Final = 100_000
_PART_SIZE: Final = 1000  # commands; a larger batch releases the lock between its parts
_PAUSE_S: Final = 0.002
_SPAWN: Final = 0
_DESTROY: Final = 1
_CONSOLE: Final = 20
_CONTROL: Final = 2
_CONTROL_TYPES: Final = (int, float, float, float, bool, bool, bool, int)  # actor id, control


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The state used by the commands."""

    world: World
    episode: Episode
    clock: Clock
    lifecycle: ActorLifecycle


def _walker_state(world: World, actor_id: ActorId, pose: Transform, speed: Number) -> None:
    """Place a walker's feet at the client's navigation pose; the walker's origin is its body's centre."""
    actor = world.actor(actor_id)
    x, y, z, pitch, yaw, roll = pose
    world.teleport(actor, (x, y, z + actor.half_m[2], pitch, yaw, roll))
    actor.walk_speed = speed
    world.table.c.stride[actor.row] = 0.0


def _telemetry(world: World, actor_id: ActorId, *_on: Anything) -> None:
    world.actor(actor_id)


# the command's number on the wire -> the method that carries it out; its body is the method's arguments
_COMMANDS: Final[dict[int, CarlaMethod[World]]] = {
    2: call(vehicles.apply_control_to_vehicle),
    3: call(vehicles.apply_ackermann_control_to_vehicle),
    4: call(vehicles.apply_control_to_walker),
    5: call(vehicles.apply_physics_control),
    6: call(motion.set_actor_transform),
    7: call(_walker_state),
    8: call(motion.set_actor_target_velocity),
    9: call(motion.set_actor_target_angular_velocity),
    10: call(motion.add_actor_impulse),
    11: call(motion.add_actor_force),
    12: call(motion.add_actor_angular_impulse),
    13: call(motion.add_actor_torque),
    14: call(motion.set_actor_simulate_physics),
    15: call(motion.set_actor_enable_gravity),
    16: call(motion.set_actor_autopilot),
    17: call(_telemetry),
    18: call(vehicles.set_vehicle_light_state),
    19: call(motion.set_actor_location),
    21: call(lights.set_traffic_light_state),
}


def apply_batch(context: BatchContext, commands: Array, do_tick: Flag = False) -> list[Any]:
    """Execute commands in order; the answer is a bare list of responses.

    A batch of up to ``_PART_SIZE`` commands is atomic.
    """
    answers = _carry_out_all(context, commands)
    if do_tick and context.episode.settings.synchronous:
        context.clock.tick()
    return answers


def _carry_out_all(context: BatchContext, commands: list[Any]) -> list[Any]:
    if len(commands) > LARGEST_BATCH:
        raise CallRefused(f"a batch has {len(commands)} commands, more than {LARGEST_BATCH}; send several batches")
    answers: list[list[Any]] = []
    for first in range(0, len(commands), _PART_SIZE):
        if first:
            time.sleep(_PAUSE_S)  # releasing a lock does not hand it to a waiting thread
        with context.world.lock:
            part = commands[first : first + _PART_SIZE]
            answers += _control_vehicles(context.world, part) or [_answer(context, command) for command in part]
    return answers


def _control_vehicles(world: World, commands: list[Any]) -> list[Any] | None:
    """Apply commands that are all controls of vehicles, as a Traffic Manager's are at every tick; None if any is not."""
    ids, rows, controls = [], [], []
    for command in commands:
        try:
            ((kind, (actor_id, control)),) = command
            types = type(actor_id), *map(type, control)
            rows.append(world.actors[actor_id].row)
        except (KeyError, TypeError, ValueError):
            return None
        if kind != _CONTROL or types != _CONTROL_TYPES:
            return None
        ids.append(actor_id)
        controls.append(control)
    values = np.array(controls, np.float64).reshape(-1, 7)
    if not np.isfinite(values[:, :3]).all():
        return None
    c, is_manual = world.table.c, values[:, 5] != 0
    c.control[rows] = values[:, :3]
    c.hand_brake[rows], c.reverse[rows], c.manual[rows] = values[:, 3:6].T
    c.control_set[rows] = 1
    c.gear[np.array(rows)[is_manual]] = np.clip(values[is_manual, 6], -1, 10)
    return [wire.ok(actor_id) for actor_id in ids]


def _answer(context: BatchContext, command: Any) -> list[Any]:
    try:
        return wire.ok(_carry_out(context, command))
    except NoSuchActor:
        return wire.error("actor not found")
    except (ClientError, InternalError) as problem:
        return wire.error(str(problem))
    except Exception as bug:  # noqa: BLE001  (ours: logged, and it spoils its own command only)
        note_bug("apply_batch", bug)
        return wire.error(str(internal_error("apply_batch", bug)))


def _carry_out(context: BatchContext, command: Any, spawned: int | None = None) -> int:
    kind, body = array(array(command, "command", least=1)[0], "command", least=2)[:2]
    body = array(body, "command's body")
    if kind == _SPAWN:
        return _spawn(context, body)
    if kind == _CONSOLE:
        return 0  # a console command: there is no console
    if spawned is not None:
        body = [spawned, *body[1:]]
    actor_id = integer(array(body, "command's body", least=1)[0], "actor id")
    if kind == _DESTROY:
        context.lifecycle.destroy(actor_id)
        return actor_id
    method = _COMMANDS.get(integer(kind, "command's number"))
    if method is None:
        raise CallRefused(f"unknown command number {kind!r}; use the commands of the client's module carla.command")
    method.handler(context.world, *method.signature.read(body))
    return actor_id


def _spawn(context: BatchContext, body: list[Any]) -> int:
    names = context.lifecycle.streams.version.spawn_command
    fields = dict(zip(names, array(body, "spawn command", least=3), strict=False))
    parent_id = optional(fields["parent"], "parent")
    actor = context.lifecycle.spawn(
        description(fields["description"], "description"),
        transform(fields["pose"], "transform"),
        parent=integer(parent_id, "parent") if parent_id else 0,
        attachment=integer(fields.get("attachment", 0), "attachment"),
    )
    for command in array(fields.get("then", []), "commands"):
        _carry_out(context, command, actor.actor_id)
    return actor.actor_id


def _ticks(arguments: list[Any]) -> bool:
    return len(arguments) > 2 and arguments[2] is True


METHODS: Final[tuple[CarlaMethod[BatchContext], ...]] = (
    call(apply_batch, traits=Traits(is_bare=True, is_locked=False, advances=_ticks)),
)
