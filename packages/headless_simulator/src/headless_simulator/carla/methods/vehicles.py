"""Methods about vehicles and walkers: control, lights, physics parameters, telemetry."""

import math
from typing import Annotated, Any, Final, TypeAlias

import numpy as np

from headless_simulator.carla import physics_control as physics
from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.carla.values import ActorId, Vec3, vector
from headless_simulator.rpc.arguments import Integer, Reads, array, array_of, flag, integer, number, row_of
from headless_simulator.world.table import VEHICLE
from headless_simulator.world.world import World

_WHEEL_SPEED_RPM: Final = 60 / (2 * math.pi)


def _light_bits(sent: Any, name: str) -> int:
    """Read light bits, which come as [bits] or bits."""
    return integer(array(sent, name, least=1)[0] if isinstance(sent, list) else sent, name) & 0xFFFFFFFF


def _physics_rows(sent: Any, name: str) -> list[Any]:
    """Read a physics control; mass, drag and tyre friction must be numbers."""
    rows = array(sent, name, least=16)
    fields = physics.layout(rows)
    number(rows[fields.mass], "mass")
    number(rows[fields.drag], "drag_coefficient")
    for wheel in array(rows[fields.wheels], "wheels"):
        number(array(wheel, "wheel", least=fields.friction + 1)[fields.friction], "tire_friction")
    return rows


Control: TypeAlias = Annotated[
    tuple[float, float, float, bool, bool, bool, int],
    Reads(
        row_of(
            ("throttle", number),
            ("steer", number),
            ("brake", number),
            ("hand_brake", flag),
            ("reverse", flag),
            ("manual_gear_shift", flag),
            ("gear", integer),
        )
    ),
]
Ackermann: TypeAlias = Annotated[
    tuple[float, float, float, float, float],
    Reads(row_of(*((name, number) for name in ("steer", "steer_speed", "speed", "acceleration", "jerk")))),
]
WalkerControl: TypeAlias = Annotated[
    tuple[Vec3, float, bool], Reads(row_of(("direction", vector), ("speed", number), ("jump", flag)))
]
Gains: TypeAlias = Annotated[list[float], Reads(array_of(number, least=6))]
LightBits: TypeAlias = Annotated[int, Reads(_light_bits)]
PhysicsRows: TypeAlias = Annotated[list[Any], Reads(_physics_rows)]


def apply_control_to_vehicle(world: World, actor_id: ActorId, control: Control) -> None:
    """Apply [throttle, steer, brake, hand_brake, reverse, manual, gear]."""
    row, c = world.actor(actor_id).row, world.table.c
    throttle, steer, brake, hand_brake, reverse, manual, gear = control
    c.control[row] = throttle, steer, brake
    c.hand_brake[row], c.reverse[row] = hand_brake, reverse
    c.manual[row], c.control_set[row] = manual, 1
    if manual:
        c.gear[row] = max(-1, min(gear, 10))


def apply_ackermann_control_to_vehicle(world: World, actor_id: ActorId, control: Ackermann) -> None:
    """Set the target [steer, steer_speed, speed, acceleration, jerk] until the next plain control."""
    controller = world.ackermann(world.actor(actor_id))
    controller.steer, controller.steer_speed, controller.speed, controller.acceleration, _ = control
    controller.active = True
    world.table.c.control_set[world.actor(actor_id).row] = 0


def get_ackermann_controller_settings(world: World, actor_id: ActorId) -> list[float]:
    """Return the PID gains of speed and acceleration."""
    return list(world.ackermann(world.actor(actor_id)).gains)


def apply_ackermann_controller_settings(world: World, actor_id: ActorId, gains: Gains) -> None:
    """Change the PID gains of speed and acceleration."""
    world.ackermann(world.actor(actor_id)).gains = tuple(gains[:6])


def apply_control_to_walker(world: World, actor_id: ActorId, control: WalkerControl) -> None:
    """Apply [direction, speed, jump]."""
    actor, c = world.actor(actor_id), world.table.c
    (x, y, z), speed, jump = control
    length = math.sqrt(x * x + y * y + z * z)
    scale = speed / length if length > 0 else 0.0
    c.stride[actor.row] = x * scale, y * scale, z * scale
    actor.walk_speed = speed
    c.jump[actor.row] = (c.jump[actor.row] & 2) | jump


def get_vehicle_light_states(world: World) -> list[list[int]]:
    """Return [[id, bits]] of every vehicle; a Traffic Manager calls this at every tick."""
    c, rows = world.table.c, world.table.rows(VEHICLE)
    pairs: list[list[int]] = np.stack((c.actor_id[rows], c.lights[rows]), axis=1).tolist()
    return pairs


def get_vehicle_light_state(world: World, actor_id: ActorId) -> list[int]:
    """Return the light bits of one vehicle."""
    return [int(world.table.c.lights[world.actor(actor_id).row])]


def set_vehicle_light_state(world: World, actor_id: ActorId, state: LightBits) -> None:
    """Set light bits."""
    world.set_lights(actor_id, state)


def open_vehicle_door(world: World, actor_id: ActorId, door: Integer) -> None:
    """Open a side door, or all doors (6); no effect on a vehicle without such a door, as in CARLA."""
    world.set_door(actor_id, door, opened=True)


def close_vehicle_door(world: World, actor_id: ActorId, door: Integer) -> None:
    """Close a side door, or all doors (6)."""
    world.set_door(actor_id, door, opened=False)


def get_physics_control(world: World, actor_id: ActorId) -> list[Any]:
    """Return the physics parameters set by a client, else those nearest to the kinematic model."""
    return physics.physics_control(world, actor_id)


def apply_physics_control(world: World, actor_id: ActorId, control: PhysicsRows) -> None:
    """Store physics parameters; only mass, drag and tyre friction have an effect."""
    actor, c, fields = world.actor(actor_id), world.table.c, physics.layout(control)
    c.mass[actor.row] = max(1.0, float(control[fields.mass]))
    c.drag[actor.row] = max(0.0, float(control[fields.drag])) / physics.USUAL_DRAG
    frictions = [float(wheel[fields.friction]) for wheel in control[fields.wheels]]
    if frictions:
        c.grip[actor.row] = c.own_grip[actor.row] = max(0.0, sum(frictions) / len(frictions))
    actor.extra["physics"] = control


def get_telemetry_data(world: World, actor_id: ActorId) -> list[Any]:
    """Return [speed, steer, throttle, brake, rpm, gear, drag, wheels]."""
    actor, c = world.actor(actor_id), world.table.c
    row = actor.row
    speed, (throttle, steer, brake) = float(c.speed[row]), (float(v) for v in c.control[row])
    omega = speed / 0.35
    wheel = [3.5, 0.0, 0.0, omega * _WHEEL_SPEED_RPM, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    rpm = 800.0 + abs(speed) * 120.0 + 1500.0 * throttle
    return [speed, steer, throttle, brake, rpm, int(c.gear[row]), 0.3, [wheel] * 4]


def get_wheel_steer_angle(world: World, actor_id: ActorId, wheel: Integer) -> float:
    """Return a wheel's steering angle, degrees; the front wheels are 0 and 1."""
    angle = math.degrees(float(world.table.c.steer[world.actor(actor_id).row]))
    return angle if wheel in (0, 1) else 0.0


def get_wheel_pitch_angle(world: World, actor_id: ActorId, _wheel: Integer = 0) -> float:
    """Return 0: wheels do not pitch here."""
    world.actor(actor_id)
    return 0.0


METHODS: Final[tuple[CarlaMethod[World], ...]] = declared(__name__)
