"""Conversion of actors to the renderer's movers."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from headless_simulator.jit import Number, kernel
from headless_simulator.scene import Float64, Int32, Movers, UInt8, UInt32
from headless_simulator.world.table import VEHICLE, ActorTable, Rows, some_of

_Bodies = namedtuple("_Bodies", "model actor_id kind pose control colour lights dormant")
"""Columns of the table that determine an actor's appearance."""


def movers_of(table: ActorTable) -> Movers:
    """Return the actors with a body that are not dormant, sorted by actor id.

    Poses are rounded to float32 as in clients and Unreal: an actor teleported to its reported pose has equal pixels.
    """
    return Movers(*_collect(table.rows(), some_of(table.c, _Bodies)))


@kernel(error_model="python")
def _collect(rows: Rows, c: _Bodies) -> tuple[Int32, Float64, UInt32, UInt8, UInt32]:
    count = 0
    for row in rows:
        count += c.model[row] >= 0 and c.dormant[row] == 0
    model, actor_id, lights = np.empty(count, np.int32), np.empty(count, np.uint32), np.empty(count, np.uint32)
    pose, colour = np.empty((count, 6)), np.empty((count, 3), np.uint8)
    n = -1
    for row in rows:
        if c.model[row] < 0 or c.dormant[row] != 0:
            continue
        n += 1
        model[n], actor_id[n] = c.model[row], c.actor_id[row]
        for k in range(6):
            pose[n, k] = _as_reported(c.pose[row, k])
        for k in range(3):
            colour[n, k] = c.colour[row, k]
        brakes = c.kind[row] == VEHICLE and c.control[row, 2] > 0.05
        lights[n] = c.lights[row] | np.uint32(8 if brakes else 0)
    return model, pose, actor_id, colour, lights


@kernel(error_model="python")
def _as_reported(value: Number) -> Number:
    return np.float64(np.float32(value))
