"""Physics parameters of vehicles in wire format."""

import math
from typing import Any, Final, NamedTuple

from headless_simulator.world.actors import Actor
from headless_simulator.world.world import World

USUAL_DRAG: Final = 0.3
_CHAOS_FIELDS: Final = 30


class Layout(NamedTuple):
    """Field positions in a physics control."""

    mass: int
    drag: int
    wheels: int
    friction: int  # in a wheel


def layout(rows: list[Any]) -> Layout:
    """Return the field positions of a physics control, by its length."""
    return Layout(17, 18, 28, 6) if len(rows) == _CHAOS_FIELDS else Layout(11, 12, 15, 0)


def physics_control(world: World, actor_id: int) -> list[Any]:
    """Return the parameters set by a client, else those nearest to the kinematic model.

    Raises:
        NoSuchActor: no actor has or had that id.
    """
    actor = world.actor_or_destroyed(actor_id)
    if "physics" in actor.extra:
        control: list[Any] = list(actor.extra["physics"])
        if actor.alive and world.table.c.grip[actor.row] != world.table.c.own_grip[actor.row]:  # in a trigger
            fields, grip = layout(control), float(world.table.c.grip[actor.row])
            wheels, friction = control[fields.wheels], fields.friction
            control[fields.wheels] = [[*wheel[:friction], grip, *wheel[friction + 1 :]] for wheel in wheels]
        return control
    mass = float(world.table.c.mass[actor.row]) if actor.alive else 1500.0
    gears = [[2.85, 0.5, 0.65], [2.02, 0.5, 0.65], [1.35, 0.5, 0.65], [1.0, 0.5, 0.65]]
    return [
        [[0.0, 400.0], [1890.0, 500.0], [5729.0, 400.0]], 5729.0, 1.0, 0.15, 2.0, 0.35, True, 0.5, 10.0, 4.0, gears,
        mass, USUAL_DRAG, [0.0, 0.0, -0.3], [[0.0, 1.0], [20.0, 0.9], [60.0, 0.8], [120.0, 0.7]], _wheels(world, actor), False,
    ]  # fmt: skip


def chaos_physics(rows: list[Any]) -> list[Any]:
    """Convert a physics control to CARLA 0.10: Chaos, ``VehiclePhysicsControl.h`` and ``WheelPhysicsControl.h`` of ue5-dev.

    Args:
        rows: in the layout of 0.9, or as set by a client of 0.10.
    """
    if len(rows) == _CHAOS_FIELDS:
        return rows
    torque, max_rpm, *_, final_ratio, gears, mass, drag, centre, steering, wheels, sweeps = rows
    return [
        torque, max(newton_metres for _, newton_metres in torque), max_rpm, 900.0, 0.05, 5.0, 600.0, 0, 0.5, True, 0.5,
        final_ratio, [ratio for ratio, *_ in gears], [2.86], 4500.0, 2000.0, 0.9, mass, drag, centre, 180.0, 140.0, 0.3,
        0.0, [1.0, 1.0, 1.0], 10.0, 0.866, steering, [_chaos_wheel(i, wheel) for i, wheel in enumerate(wheels)], sweeps,
    ]  # fmt: skip


def _chaos_wheel(index: int, wheel: list[Any]) -> list[Any]:
    friction, _, steer, radius, brake, hand_brake, *_, position_cm = wheel
    zero = [0.0, 0.0, 0.0]
    return [
        0, zero, radius, 25.0, 30.0, 1000.0, friction, 1.0, 20.0, 20.0, steer, steer > 0, True, hand_brake > 0, True,
        False, False, 30.0, 0, [], [0.0, 0.0, -1.0], zero, 10.0, 10.0, 0.5, 0.5, 250.0, 50.0, 0, 0.15, 0, 0, brake,
        hand_brake, index, position_cm, position_cm, zero,
    ]  # fmt: skip


def _wheels(world: World, actor: Actor) -> list[list[Any]]:
    """Return four (or two) wheels: [friction, damping, max steer, radius, brakes, stiffness, position in cm]."""
    c = world.table.c
    x, y, z, _, yaw, _ = c.pose[actor.row].tolist()
    cy, sy = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    half_base, half_track = c.wheelbase[actor.row] / 2, 0.8 * actor.half_m[1]
    rows = []
    for front in (1, -1):
        for side in (-1, 1):
            dx, dy = front * half_base, side * half_track
            position_cm = [
                100 * float(x + cy * dx - sy * dy),
                100 * float(y + sy * dx + cy * dy),
                100 * float(z + 0.35),
            ]
            steer = 70.0 if front > 0 else 0.0
            rows.append(
                [
                    float(c.grip[actor.row]) if actor.alive else 3.5,
                    0.25,
                    steer,
                    35.0,
                    1500.0,
                    3000.0 if front < 0 else 0.0,
                    2.0,
                    17.0,
                    1000.0,
                    position_cm,
                ]
            )
    return rows
