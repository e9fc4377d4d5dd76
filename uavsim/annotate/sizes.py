"""Sizes of actors whose bounding box the simulator reports wrongly.

Some CARLA versions report bounding boxes of two-wheelers (and of a few others) as zero, infinite or lying beside the actor. A
box that cannot be true is replaced from ``records.classes``, whose sizes are close to those of CARLA's vehicle catalogue, and
the instance is flagged ``uav_size_source: table``.
"""

from typing import Final

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.records.classes import class_of, class_of_label
from uavsim.records.ingredients import actor_kind
from uavsim.records.labels import SizeSource
from uavsim.records.recording import ActorInfo
from uavsim.typing import FloatArray

_SMALLEST_M: Final = 0.08  # half of the narrowest side that a real actor has
_THINNEST_PROP_M: Final = 0.005  # half of a plate's
_LARGEST_M: Final = 12.0
_FARTHEST_OFFSET_M: Final = 3.0


def believable(half_extent_m: tuple[float, float, float], box_actor_m: FloatArray, *, prop: bool = False) -> bool:
    """Return whether a reported box, its centre at (3,) from the actor's origin, can be that of a vehicle, person or prop."""
    half, offset = np.array(half_extent_m), np.asarray(box_actor_m)
    if not np.isfinite(half).all():
        return False
    in_range = (half >= (_THINNEST_PROP_M if prop else _SMALLEST_M)).all() and (half <= _LARGEST_M).all()
    centred = abs(offset[0]) < max(_FARTHEST_OFFSET_M, half[0]) and abs(offset[1]) < half[1] + 0.5
    return bool(in_range and centred)


def size_of(info: ActorInfo) -> tuple[tuple[float, float, float], SE3, SizeSource]:
    """Return (half extent in metres, ``actor_SE3_box``, where they are from) of an actor."""
    kind = actor_kind(info.kind)
    if believable(info.half_extent_m, info.actor_SE3_box.translation_m, prop=kind.is_prop or kind.is_drone):
        return info.half_extent_m, info.actor_SE3_box, "simulator"
    found = class_of(info) or class_of_label("car")
    half = found.sizes.get(info.blueprint, found.half_extent_m)
    on_the_ground = 0.0 if kind.origin_at_middle else half[2]
    return half, SE3(info.actor_SE3_box.quat_wxyz, np.array([0.0, 0.0, on_the_ground])), "table"
