"""nuScenes attributes of boxes (moving, stopped, parked, ...): at most one for each box, as the devkit requires."""

from typing import Final

import numpy as np

from uavsim.annotate.options import AnnotateOptions
from uavsim.dataset.vocabulary import ATTRIBUTES
from uavsim.records.classes import class_of_label
from uavsim.records.ingredients import actor_kind
from uavsim.records.recording import ActorInfo
from uavsim.typing import FloatArray, IntArray

_NUMBER: Final = {name: row for row, (name, _) in enumerate(ATTRIBUTES)}


def attributes_of_track(
    info: ActorInfo, label: str, *, speed_mps: FloatArray, origin_map_m: FloatArray, options: AnnotateOptions
) -> IntArray:
    """Return the attribute of each box of a track.

    Args:
        info: the actor.
        label: class of the actor.
        speed_mps: (K,) speeds from the simulator, m/s.
        origin_map_m: (K, 3) actor origins in the map frame, metres.
        options: thresholds.

    Returns:
            (K,) int64 rows of ``vocabulary.ATTRIBUTES``; -1 for no attribute.
    """
    moving = speed_mps > options.moving_mps
    behaviour = class_of_label(label).behaviour
    if behaviour in {"stands", "flies"}:
        return np.full(len(speed_mps), -1)
    if behaviour == "walks":
        return np.where(moving, _NUMBER["pedestrian.moving"], _NUMBER["pedestrian.standing"])
    if behaviour == "is_ridden":
        ridden = not actor_kind(info.kind).is_of_town and info.attributes.get("role_name") != "parked"
        return np.full(len(speed_mps), _NUMBER["cycle.with_rider" if ridden else "cycle.without_rider"])
    if _is_parked(info, moving_anywhere=bool(moving.any()), origin_map_m=origin_map_m, options=options):
        return np.full(len(speed_mps), _NUMBER["vehicle.parked"])
    return np.where(moving, _NUMBER["vehicle.moving"], _NUMBER["vehicle.stopped"])


def _is_parked(info: ActorInfo, *, moving_anywhere: bool, origin_map_m: FloatArray, options: AnnotateOptions) -> bool:
    if actor_kind(info.kind).is_parked:
        return True
    moved_m = float(np.linalg.norm(origin_map_m - origin_map_m[0], axis=1).max())
    return info.attributes.get("role_name") == "parked" and not moving_anywhere and moved_m < options.parked_moved_m
