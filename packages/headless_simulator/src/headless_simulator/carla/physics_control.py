"""Physics parameters of vehicles, as clients read them."""

import math
from typing import Any, Final

from headless_simulator.world.actors import Actor
from headless_simulator.world.world import World

USUAL_DRAG: Final = 0.3
WHEELS_AT: Final = 15  # place in a physics control


def physics_control(world: World, actor_id: int) -> list[Any]:
    """Give the parameters that a client set, else what the kinematic model comes closest to.

    Raises:
        NoSuchActor: nobody has or had that id.
    """
    actor = world.actor_or_destroyed(actor_id)
    if "physics" in actor.extra:
        kept: list[Any] = list(actor.extra["physics"])
        if actor.alive and world.table.c.grip[actor.row] != world.table.c.own_grip[actor.row]:  # in a trigger
            kept[WHEELS_AT] = [[float(world.table.c.grip[actor.row]), *wheel[1:]] for wheel in kept[WHEELS_AT]]
        return kept
    mass = float(world.table.c.mass[actor.row]) if actor.alive else 1500.0
    gears = [[2.85, 0.5, 0.65], [2.02, 0.5, 0.65], [1.35, 0.5, 0.65], [1.0, 0.5, 0.65]]
    return [
        [[0.0, 400.0], [1890.0, 500.0], [5729.0, 400.0]], 5729.0, 1.0, 0.15, 2.0, 0.35, True, 0.5, 10.0, 4.0, gears,
        mass, USUAL_DRAG, [0.0, 0.0, -0.3], [[0.0, 1.0], [20.0, 0.9], [60.0, 0.8], [120.0, 0.7]], _wheels(world, actor), False,
    ]  # fmt: skip


def _wheels(world: World, actor: Actor) -> list[list[Any]]:
    """Four (or two) wheels: [friction, damping, max steer, radius, brakes, stiffness, position in cm]."""
    c = world.table.c
    x, y, z, _, yaw, _ = c.pose[actor.row].tolist()
    cy, sy = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    half_base, half_track = c.wheelbase[actor.row] / 2, 0.8 * actor.half_m[1]
    rows = []
    for front in (1, -1):
        for side in (-1, 1):
            dx, dy = front * half_base, side * half_track
            place = [100 * float(x + cy * dx - sy * dy), 100 * float(y + sy * dx + cy * dy), 100 * float(z + 0.35)]
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
                    place,
                ]
            )
    return rows
