"""Sizes of actors whose bounding box the simulator reports wrongly.

Some CARLA versions report bounding boxes of two-wheelers (and of a few others) as zero, infinite or lying beside the actor. A
box that cannot be true is replaced from the table here, and the instance is flagged ``uav_size_source: table``. The table's
sizes are close to those of CARLA's vehicle catalogue.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from uavsim.dataset.classes import label_of
from uavsim.geometry.se3 import SE3
from uavsim.records.labels import SizeSource
from uavsim.records.recording import ActorInfo
from uavsim.typing import FloatArray

__all__ = ["HALF_EXTENT_M", "believable", "size_of"]

HALF_EXTENT_M: Final[dict[str, tuple[float, float, float]]] = {
    "vehicle.bh.crossbike": (0.75, 0.43, 0.81),
    "vehicle.diamondback.century": (0.82, 0.19, 0.81),
    "vehicle.gazelle.omafiets": (0.92, 0.25, 0.88),
    "vehicle.harley-davidson.low_rider": (1.18, 0.38, 0.80),
    "vehicle.kawasaki.ninja": (1.02, 0.40, 0.77),
    "vehicle.vespa.zx125": (0.91, 0.43, 0.79),
    "vehicle.yamaha.yzf": (1.11, 0.43, 0.77),
}
_HALF_EXTENT_OF_LABEL_M: Final[dict[str, tuple[float, float, float]]] = {
    "car": (2.3, 1.0, 0.76),
    "van": (2.6, 1.0, 1.15),
    "truck": (3.5, 1.25, 1.5),
    "bus": (5.1, 1.5, 2.1),
    "motorcycle": (1.1, 0.4, 0.8),
    "bicycle": (0.85, 0.3, 0.85),
    "pedestrian": (0.19, 0.19, 0.93),
}
_SMALLEST_M: Final = 0.08  # half of the narrowest side that a real actor has
_LARGEST_M: Final = 12.0
_FARTHEST_OFFSET_M: Final = 3.0


def believable(half_extent_m: tuple[float, float, float], box_actor_m: FloatArray) -> bool:
    """Tell whether a reported box, its centre at (3,) from the actor's origin, can be that of a vehicle or person."""
    half, offset = np.array(half_extent_m), np.asarray(box_actor_m)
    if not np.isfinite(half).all():
        return False
    in_range = (half >= _SMALLEST_M).all() and (half <= _LARGEST_M).all()
    centred = abs(offset[0]) < max(_FARTHEST_OFFSET_M, half[0]) and abs(offset[1]) < half[1] + 0.5
    return bool(in_range and centred)


def size_of(info: ActorInfo) -> tuple[tuple[float, float, float], SE3, SizeSource]:
    """Return (half extent in metres, ``actor_SE3_box``, where they are from) of an actor."""
    if believable(info.half_extent_m, info.actor_SE3_box.translation_m):
        return info.half_extent_m, info.actor_SE3_box, "simulator"
    label = label_of(info) or "car"
    half = HALF_EXTENT_M.get(info.blueprint, _HALF_EXTENT_OF_LABEL_M[label])
    on_the_ground = 0.0 if info.kind == "walker" else half[2]  # a walker's origin is at its middle
    return half, SE3(info.actor_SE3_box.quat_wxyz, np.array([0.0, 0.0, on_the_ground])), "table"
