"""RPC methods about vehicles and walkers: control, lights, physics parameters, telemetry."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headless_simulator.carla import values
from headless_simulator.carla.registry import method
from headless_simulator.world.actors import Actor
from headless_simulator.world.table import VEHICLE

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

_WHEEL_SPEED_RPM = 60 / (2 * math.pi)


@method("apply_control_to_vehicle", void=True)
def apply_control_to_vehicle(server: CarlaServer, actor_id: int, control: list[Any]) -> None:
    """[throttle, steer, brake, hand_brake, reverse, manual, gear]."""
    row, c = server.world.actor(actor_id).row, server.world.table.c
    throttle, steer, brake, hand_brake, reverse, manual, gear = values.items(control, least=7, what="control")[:7]
    c.control[row] = values.number(throttle), values.number(steer), values.number(brake)
    c.hand_brake[row], c.reverse[row] = values.flag(hand_brake), values.flag(reverse)
    c.manual[row] = values.flag(manual)
    if manual:
        c.gear[row] = max(-1, min(values.integer(gear), 10))


@method("apply_ackermann_control_to_vehicle", void=True)
def apply_ackermann_control_to_vehicle(server: CarlaServer, actor_id: int, control: list[Any]) -> None:
    """[steer, steer_speed, speed, acceleration, jerk]: turned into throttle and brake by the speed that is missing."""
    row, c = server.world.actor(actor_id).row, server.world.table.c
    steer, _, speed, *_ = (values.number(v) for v in values.items(control, least=5)[:5])
    missing = abs(speed) - abs(float(c.speed[row]))
    c.control[row] = (
        max(0.0, min(1.0, missing)),
        steer / c.max_steer[row] if c.max_steer[row] else 0.0,
        max(0.0, -missing),
    )
    c.reverse[row] = speed < 0


@method("get_ackermann_controller_settings")
def get_ackermann_controller_settings(server: CarlaServer, actor_id: int) -> list[float]:
    """PID gains as last set."""
    found: list[float] = server.world.actor(actor_id).extra.get("ackermann", [0.15, 0.0, 0.25, 0.01, 0.0, 0.01])
    return found


@method("apply_ackermann_controller_settings", void=True)
def apply_ackermann_controller_settings(server: CarlaServer, actor_id: int, gains: list[float]) -> None:
    """Kept and given back; the controller here has no gains."""
    server.world.actor(actor_id).extra["ackermann"] = [values.number(v) for v in values.items(gains, least=6)[:6]]


@method("apply_control_to_walker", void=True)
def apply_control_to_walker(server: CarlaServer, actor_id: int, control: list[Any]) -> None:
    """[direction, speed, jump]."""
    actor, c = server.world.actor(actor_id), server.world.table.c
    direction, speed, jump = values.items(control, least=3, what="control")[:3]
    x, y, z = values.vector(direction)
    length = math.sqrt(x * x + y * y + z * z)
    scale = values.number(speed) / length if length > 0 else 0.0
    c.stride[actor.row] = x * scale, y * scale, z * scale
    actor.walk_speed, actor.jump = values.number(speed), values.flag(jump)


@method("get_vehicle_light_states")
def get_vehicle_light_states(server: CarlaServer) -> list[list[int]]:
    """[[id, bits]] of every vehicle."""
    table = server.world.table
    rows = table.rows(VEHICLE)
    return [list(pair) for pair in zip(table.c.actor_id[rows].tolist(), table.c.lights[rows].tolist(), strict=True)]


@method("get_vehicle_light_state")
def get_vehicle_light_state(server: CarlaServer, actor_id: int) -> list[int]:
    """Light bits of one vehicle."""
    return [int(server.world.table.c.lights[server.world.actor(actor_id).row])]


@method("set_vehicle_light_state", void=True)
def set_vehicle_light_state(server: CarlaServer, actor_id: int, state: Any) -> None:
    """Set light bits, given as [bits]."""
    bits = values.items(state, least=1)[0] if isinstance(state, list) else state
    server.world.table.c.lights[server.world.actor(actor_id).row] = values.integer(bits) & 0xFFFFFFFF


def _wheels(server: CarlaServer, actor: Actor) -> list[list[Any]]:
    """Four (or two) wheels: [friction, damping, max steer, radius, brakes, stiffness, position in cm]."""
    c = server.world.table.c
    x, y, z, _, yaw, _ = c.pose[actor.row].tolist()
    cy, sy = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    half_base, half_track = c.wheelbase[actor.row] / 2, 0.8 * actor.half_m[1]
    rows = []
    for front in (1, -1):
        for side in (-1, 1):
            dx, dy = front * half_base, side * half_track
            place = [100 * float(x + cy * dx - sy * dy), 100 * float(y + sy * dx + cy * dy), 100 * float(z + 0.35)]
            steer = 70.0 if front > 0 else 0.0
            rows.append([3.5, 0.25, steer, 35.0, 1500.0, 3000.0 if front < 0 else 0.0, 2.0, 17.0, 1000.0, place])
    return rows


@method("get_physics_control")
def get_physics_control(server: CarlaServer, actor_id: int) -> list[Any]:
    """Physics parameters: those that a client set, else what the kinematic model comes closest to."""
    actor = server.world.actor_or_grave(actor_id)
    if "physics" in actor.extra:
        kept: list[Any] = actor.extra["physics"]
        return kept
    mass = float(server.world.table.c.mass[actor.row]) if actor.alive else 1500.0
    gears = [[2.85, 0.5, 0.65], [2.02, 0.5, 0.65], [1.35, 0.5, 0.65], [1.0, 0.5, 0.65]]
    return [
        [[0.0, 400.0], [1890.0, 500.0], [5729.0, 400.0]], 5729.0, 1.0, 0.15, 2.0, 0.35, True, 0.5, 10.0, 4.0, gears,
        mass, 0.3, [0.0, 0.0, -0.3], [[0.0, 1.0], [20.0, 0.9], [60.0, 0.8], [120.0, 0.7]], _wheels(server, actor), False,
    ]  # fmt: skip


@method("apply_physics_control", void=True)
def apply_physics_control(server: CarlaServer, actor_id: int, control: list[Any]) -> None:
    """Kept and given back; of it only the mass changes what happens."""
    actor = server.world.actor(actor_id)
    rows = values.items(control, least=12, what="physics control")
    server.world.table.c.mass[actor.row] = max(1.0, values.number(rows[11], what="mass"))
    actor.extra["physics"] = rows


@method("get_telemetry_data")
def get_telemetry_data(server: CarlaServer, actor_id: int) -> list[Any]:
    """[speed, steer, throttle, brake, rpm, gear, drag, wheels]."""
    actor, c = server.world.actor(actor_id), server.world.table.c
    row = actor.row
    speed, (throttle, steer, brake) = float(c.speed[row]), (float(v) for v in c.control[row])
    omega = speed / 0.35
    wheel = [3.5, 0.0, 0.0, omega * _WHEEL_SPEED_RPM, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    rpm = 800.0 + abs(speed) * 120.0 + 1500.0 * throttle
    return [speed, steer, throttle, brake, rpm, int(c.gear[row]), 0.3, [wheel] * 4]


@method("get_wheel_steer_angle")
def get_wheel_steer_angle(server: CarlaServer, actor_id: int, wheel: int) -> float:
    """Degrees; the front wheels are numbers 0 and 1."""
    angle = math.degrees(float(server.world.table.c.steer[server.world.actor(actor_id).row]))
    return angle if values.integer(wheel) in (0, 1) else 0.0
