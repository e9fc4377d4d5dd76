"""Sizes of actors whose bounding box the simulator reports wrongly.

Some CARLA versions report bounding boxes of two-wheelers (and of a few others) as zero, infinite or lying beside the actor. A
box that cannot be true is replaced from ``records.classes``, whose sizes are close to those of CARLA's vehicle catalogue, and
the instance is flagged ``uav_size_source: table``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from uavsim.records.classes import class_of, class_of_label
from uavsim.records.labels import SizeSource
from uavsim.records.recording import ActorInfo

__all__ = ["believable", "size_of"]

_SMALLEST_M: Final = 0.08  # half of the narrowest side that a real actor has
_LARGEST_M: Final = 12.0
_FARTHEST_OFFSET_M: Final = 3.0


def believable(half_extent_m: tuple[float, float, float], actor_t_box_m: tuple[float, float, float]) -> bool:
    """Tell whether a reported box can be that of a vehicle or person."""
    half, offset = np.array(half_extent_m), np.array(actor_t_box_m)
    if not (np.isfinite(half).all() and np.isfinite(offset).all()):
        return False
    in_range = (half >= _SMALLEST_M).all() and (half <= _LARGEST_M).all()
    centred = abs(offset[0]) < max(_FARTHEST_OFFSET_M, half[0]) and abs(offset[1]) < half[1] + 0.5
    return bool(in_range and centred)


def size_of(
    info: ActorInfo,
) -> tuple[tuple[float, float, float], tuple[float, float, float], SizeSource]:
    """Return (half extent, box centre in the actor's flu frame, where they are from) of an actor, metres."""
    if believable(info.half_extent_m, info.actor_t_box_m):
        return info.half_extent_m, info.actor_t_box_m, "simulator"
    found = class_of(info) or class_of_label("car")
    half = found.sizes.get(info.blueprint, found.half_extent_m)
    on_the_ground = 0.0 if info.kind == "walker" else half[2]  # a walker's origin is at its middle
    return half, (0.0, 0.0, on_the_ground), "table"
