"""Conversion of actors to the renderer's movers."""

import numpy as np

from headless_simulator.scene import Movers
from headless_simulator.world.table import VEHICLE, ActorTable

_BRAKE_LIGHT = np.uint32(8)


def movers_of(table: ActorTable) -> Movers:
    """Return the actors with a body that are not dormant, sorted by actor id.

    Poses are rounded to float32 as in clients and Unreal: an actor teleported to its reported pose has equal pixels.
    """
    c, rows = table.c, table.rows()
    rows = rows[(c.model[rows] >= 0) & (c.dormant[rows] == 0)]
    brakes = (c.kind[rows] == VEHICLE) & (c.control[rows, 2] > 0.05)
    with np.errstate(over="ignore"):  # a number too large for float32 is drawn at infinity
        pose = c.pose[rows].astype(np.float32).astype(np.float64)
    return Movers(
        model=c.model[rows],
        pose=pose,
        actor_id=c.actor_id[rows],
        colour_rgb=c.colour[rows],
        lights=c.lights[rows] | np.where(brakes, _BRAKE_LIGHT, np.uint32(0)),
    )
