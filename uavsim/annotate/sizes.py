"""Replace bounding boxes that the simulator reports wrongly.

Some CARLA versions report bounding boxes of two-wheelers (and of a few others) as zero, infinite or beside the actor. An
implausible box is replaced from ``records.classes``, whose sizes are close to those of CARLA's vehicle catalogue, and the
instance is flagged ``uav_size_source: table``.
"""

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.records.actors import has_believable_box
from uavsim.records.classes import class_of, class_of_label
from uavsim.records.ingredients import actor_kind
from uavsim.records.labels import SizeSource
from uavsim.records.recording import ActorInfo


def size_of(info: ActorInfo) -> tuple[tuple[float, float, float], SE3, SizeSource]:
    """Return an actor's half extent in metres, ``actor_SE3_box``, and their source."""
    kind = actor_kind(info.kind)
    if has_believable_box(info):
        return info.half_extent_m, info.actor_SE3_box, "simulator"
    found = class_of(info) or class_of_label("car")
    half = found.sizes.get(info.blueprint, found.half_extent_m)
    centre_z_m = 0.0 if kind.origin_at_middle else half[2]
    return half, SE3(info.actor_SE3_box.quat_wxyz, np.array([0.0, 0.0, centre_z_m])), "table"
