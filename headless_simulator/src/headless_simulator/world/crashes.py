"""What happens when bodies meet: it is reported, and a vehicle that drives into something stays where it was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.scene import Float64, StaticObject
from headless_simulator.world import cells, contact
from headless_simulator.world.cells import Cells
from headless_simulator.world.table import PROP, VEHICLE, WALKER, Rows, Table

_SOLID_TAGS: Final = frozenset({3, 4, 5, 14, 15, 16, 17, 18, 28})  # walls, fences, parked vehicles; no crowns, no arms
_DEEPER_M: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Touch:
    """Two bodies that met in this tick; ``other_id`` 0 is something of the town, named by ``other_name``."""

    actor_id: int
    other_id: int
    other_name: str
    impulse: tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Walls:
    """What of a town stops a vehicle: (N, 7) upright boxes, their names, and where to look for them."""

    boxes: Float64
    names: tuple[str, ...]
    cells: Cells

    @classmethod
    def of(cls, things: Iterable[StaticObject]) -> Walls:
        """Pick them out of a town's objects."""
        solid = [thing for thing in things if thing.tag in _SOLID_TAGS]
        rows = [(*thing.box_centre_m, thing.pose[4], *thing.box_half_m) for thing in solid]
        boxes = np.array(rows, np.float64).reshape(-1, 7)
        return cls(boxes, tuple(thing.name for thing in solid), Cells.of_boxes(boxes))


def resolve(table: Table, vehicles: Rows, before: Float64, walls: Walls) -> list[Touch]:
    """Report who met whom in this tick, and take back moves that went deeper into something.

    Args:
        table: all actors; poses and speeds of vehicles are changed.
        vehicles: their rows.
        before: (N, 6) poses of these rows before the tick.
        walls: what never moves.
    """
    c = table.c
    touches: list[Touch] = []
    bodies = table.rows(VEHICLE, WALKER, PROP)
    bodies = bodies[c.solid[bodies] != 0]
    boxes = contact.boxes_of(bodies, c.pose, c.half, c.offset)
    was = dict(zip(vehicles.tolist(), before, strict=True))
    for i, j in contact.pairs(boxes).tolist():
        for row, other, box in ((int(bodies[i]), int(bodies[j]), boxes[j]), (int(bodies[j]), int(bodies[i]), boxes[i])):
            if c.kind[row] == PROP:
                continue
            touches.append(_touch(table, row, int(c.actor_id[other]), ""))
            if c.kind[row] == VEHICLE and c.physics[row] and c.kind[other] != WALKER:
                _hold_back(table, row, box, was[row])
    moving = vehicles[(c.solid[vehicles] != 0) & (c.physics[vehicles] != 0) & (c.speed[vehicles] != 0)]
    hits = cells.first_hits(contact.boxes_of(moving, c.pose, c.half, c.offset), walls.boxes, walls.cells)
    for row, hit in zip(moving.tolist(), hits.tolist(), strict=True):
        if hit >= 0:
            touches.append(_touch(table, row, 0, walls.names[hit]))
            _hold_back(table, row, walls.boxes[hit], was[row])
    return touches


def _touch(table: Table, row: int, other_id: int, name: str) -> Touch:
    c = table.c
    push = -c.velocity[row] * c.mass[row]
    return Touch(int(c.actor_id[row]), other_id, name, (float(push[0]), float(push[1]), float(push[2])))


def _hold_back(table: Table, row: int, box: Float64, was: Float64) -> None:
    """Take a vehicle's last move back if that brought it deeper into ``box``."""
    c, rows = table.c, np.array([row])
    now = contact.overlap_depth(contact.boxes_of(rows, c.pose, c.half, c.offset)[0], box)
    moved = c.pose[row].copy()
    c.pose[row, :2], c.pose[row, 4] = was[:2], was[4]
    before = contact.overlap_depth(contact.boxes_of(rows, c.pose, c.half, c.offset)[0], box)
    if now > max(before, 0.0) + _DEEPER_M:
        c.was[row] = c.pose[row, :3]
        c.speed[row] = 0.0
        c.velocity[row] = 0.0
        c.angular[row] = 0.0
    else:
        c.pose[row] = moved
