"""Collisions: each is reported, and a vehicle that drives into an obstacle keeps its previous pose."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.jit import int64, kernel
from headless_simulator.scene import Float64, StaticObject
from headless_simulator.world import contact
from headless_simulator.world.contact import Int64
from headless_simulator.world.table import PROP, VEHICLE, WALKER, ActorTable, Rows, some_of

_SOLID_TAGS: Final = frozenset({3, 4, 5, 14, 15, 16, 17, 18, 28})  # walls, fences, parked vehicles; no crowns, no arms
_DEEPER_M: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Touch:
    """A collision of this tick; ``other_id`` 0 is a static object with name ``other_name``."""

    actor_id: int
    other_id: int
    other_name: str
    impulse: tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Walls:
    """Static obstacles of a town: (N, 7) upright boxes and their names."""

    boxes: Float64
    names: tuple[str, ...]

    @classmethod
    def of(cls, objects: Iterable[StaticObject]) -> Walls:
        """Select the obstacles among a town's objects."""
        solid = [item for item in objects if item.tag in _SOLID_TAGS]
        rows = [(*item.box_centre_m, item.pose[4], *item.box_half_m) for item in solid]
        boxes = np.array(rows, np.float64).reshape(-1, 7)
        return cls(boxes, tuple(item.name for item in solid))


_Bodies = namedtuple("_Bodies", "kind actor_id pose was velocity angular speed physics solid half offset mass")
"""Columns of the table that collisions read or change."""


def resolve(table: ActorTable, vehicles: Rows, before: Float64, walls: Walls) -> list[Touch]:
    """Return the contacts of this tick in order, and undo moves that penetrate an obstacle further.

    Args:
        table: all actors; poses and speeds of vehicles are changed.
        vehicles: (N,) rows of vehicles.
        before: (N, 6) poses of these rows before the tick, metres and degrees.
        walls: static obstacles.
    """
    c, bodies = table.c, table.rows(VEHICLE, WALKER, PROP)
    bodies = bodies[c.solid[bodies] != 0]
    boxes = contact.boxes_of(bodies, c.pose, c.half, c.offset)
    met = contact.pairs(boxes, np.argsort(boxes[:, 0], kind="stable"))
    ids, impulses = _resolve((bodies, boxes, met), vehicles, before, some_of(c, _Bodies), walls.boxes)
    return [
        Touch(actor_id, max(other, 0), walls.names[-1 - other] if other < 0 else "", (x, y, z))
        for (actor_id, other), (x, y, z) in zip(ids.tolist(), impulses.tolist(), strict=True)
    ]


@kernel(error_model="python")
def _resolve(
    solid: tuple[Rows, Float64, Int64], vehicles: Rows, before: Float64, c: _Bodies, walls: Float64
) -> tuple[Int64, Float64]:
    """Return (N, 2) actor ids, a negative one being wall -1 - n, and (N, 3) impulses, N s, of all contacts.

    ``solid`` has the rows of colliding bodies, their boxes, and the pairs of them that overlap.
    """
    bodies, boxes, met = solid
    vehicle_index = np.empty(len(c.kind), np.int64)
    for n in range(len(vehicles)):
        vehicle_index[vehicles[n]] = n
    ids, impulses = np.empty((2 * len(met) + len(vehicles), 2), np.int64), np.empty((2 * len(met) + len(vehicles), 3))
    count, scratch_box = 0, np.empty(7)
    for pair in range(len(met)):
        for turn in range(2):
            row, other, box = bodies[met[pair, turn]], bodies[met[pair, 1 - turn]], boxes[met[pair, 1 - turn]]
            if c.kind[row] == PROP:
                continue
            _note_touch(row, int64(c.actor_id[other]), c, ids[count], impulses[count])
            count += 1
            if c.kind[row] == VEHICLE and c.physics[row] and c.kind[other] != WALKER:
                _hold_back(row, box, before[vehicle_index[row]], c, scratch_box)
    for n in range(len(vehicles)):
        row = vehicles[n]
        if not c.solid[row] or not c.physics[row] or c.speed[row] == 0:
            continue
        contact.box_into(row, c.pose, c.half, c.offset, scratch_box)
        hit = contact.first_hit(scratch_box, walls)
        if hit >= 0:
            _note_touch(row, -1 - hit, c, ids[count], impulses[count])
            count += 1
            _hold_back(row, walls[hit], before[n], c, scratch_box)
    return ids[:count], impulses[:count]


@kernel(error_model="python")
def _note_touch(row: int, other: int, c: _Bodies, ids: Int64, impulse: Float64) -> None:
    ids[0], ids[1] = int64(c.actor_id[row]), other
    for axis in range(3):
        impulse[axis] = -c.velocity[row, axis] * c.mass[row]


@kernel(error_model="python")
def _hold_back(row: int, box: Float64, was: Float64, c: _Bodies, scratch_box: Float64) -> None:
    """Undo a vehicle's last move if it penetrates ``box`` further; ``scratch_box`` is scratch."""
    contact.box_into(row, c.pose, c.half, c.offset, scratch_box)
    now = contact.overlap_depth(scratch_box, box)
    x, y, yaw = c.pose[row, 0], c.pose[row, 1], c.pose[row, 4]
    c.pose[row, 0], c.pose[row, 1], c.pose[row, 4] = was[0], was[1], was[4]
    contact.box_into(row, c.pose, c.half, c.offset, scratch_box)
    before = contact.overlap_depth(scratch_box, box)
    if now > max(before, 0.0) + _DEEPER_M:
        c.speed[row] = 0.0
        for axis in range(3):
            c.was[row, axis] = c.pose[row, axis]
            c.velocity[row, axis] = 0.0
            c.angular[row, axis] = 0.0
    else:
        c.pose[row, 0], c.pose[row, 1], c.pose[row, 4] = x, y, yaw
