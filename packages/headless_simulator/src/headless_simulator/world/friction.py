"""Tyre friction: values set by clients, and friction triggers.

A ``static.trigger.friction`` sets the tyre friction of every vehicle that it overlaps. A vehicle that leaves it gets its own
friction back.
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
USUAL: Final = 3.5  # ``tire_friction`` of CARLA's tyres
_M_PER_CM: Final = 0.01
_NUMBER: Final = re.compile(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?")


def number(text: str, default: float) -> float:
    """Read a number like C's ``atof``: a numeric prefix counts, as in ``3.5f``."""
    found = _NUMBER.match(text.strip())
    return float(found[0]) if found else default


def trigger_half_m(attributes: Mapping[str, str]) -> tuple[float, float, float]:
    """Return the half size of a trigger, metres; its attributes are in centimetres."""
    x, y, z = (_M_PER_CM * abs(number(attributes.get(f"extent_{axis}", ""), 100.0)) for axis in "xyz")
    return x, y, z


def apply_triggers(table: ActorTable, vehicles: Rows, triggers: Sequence[Actor]) -> None:
    """Set the tyre friction of vehicles in (N,) rows: their own, or that of the last overlapping trigger."""
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
