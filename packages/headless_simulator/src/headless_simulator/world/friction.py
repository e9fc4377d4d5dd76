"""Tyres on the ground: what a client sets for a vehicle, and the volumes that change it.

A ``static.trigger.friction`` gives its own friction to the tyres of every vehicle that it overlaps. A vehicle that leaves it
has its own again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.world import contact
from headless_simulator.world.actors import Actor
from headless_simulator.world.table import ActorTable, Rows

TRIGGER: Final = "static.trigger.friction"
USUAL: Final = 3.5  # of CARLA's tyres, as their ``tire_friction`` says it
_M_PER_CM: Final = 0.01
_NUMBER: Final = re.compile(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?")


def number(text: str, default: float) -> float:
    """Read a number as C's ``atof`` does: what it begins with counts, as in ``3.5f``."""
    found = _NUMBER.match(text.strip())
    return float(found[0]) if found else default


def trigger_half_m(attributes: Mapping[str, str]) -> tuple[float, float, float]:
    """Half size of a trigger; its attributes say it in centimetres."""
    x, y, z = (_M_PER_CM * abs(number(attributes.get(f"extent_{axis}", ""), 100.0)) for axis in "xyz")
    return x, y, z


def apply_triggers(table: ActorTable, vehicles: Rows, triggers: Sequence[Actor]) -> None:
    """Set the friction of every vehicle's tyres: its own, or that of the last trigger that it overlaps."""
    c = table.c
    if not len(vehicles):
        return
    c.grip[vehicles] = c.own_grip[vehicles]
    if not triggers:
        return
    boxes = contact.boxes_of(vehicles, c.pose, c.half, c.offset)
    for trigger in triggers:
        volume = _volume(c.pose[trigger.row], trigger.half_m)
        inside = [contact.overlap_depth(box, volume) > 0 for box in boxes]
        c.grip[vehicles[np.array(inside, bool)]] = number(trigger.order.attributes.get("friction", ""), USUAL)


def _volume(pose: Float64, half_m: tuple[float, float, float]) -> Float64:
    return np.array([*pose[:3], pose[4], *half_m])
