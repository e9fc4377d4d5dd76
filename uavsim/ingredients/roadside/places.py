"""Places of poles at junctions that a swarm passes: pure, knows no simulator. Map frame, metres."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.errors import SceneVoid
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.roadside.records import PASSED_M
from uavsim.typing import FloatArray

_APART_M: Final = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Junction:
    """A junction: (3,) its middle, and (N, 3) places beside the roads that lead there."""

    middle_m: FloatArray
    beside_m: FloatArray


def poles_at_junctions(
    junctions: Sequence[Junction], way_m: FloatArray, *, count: int, pole_m: float, within_m: float = PASSED_M
) -> list[SE3]:
    """Return the poses of poles that look at their junction's middle: one a junction, nearest first, then second ones.

    Args:
        junctions: of the town.
        way_m: (K, 3) that the swarm flies.
        count: how many.
        pole_m: their height.
        within_m: farthest that a junction's middle is from that way.

    Raises:
        SceneVoid: there is no room for so many.
    """
    away_m = [float(np.linalg.norm(way_m[:, :2] - j.middle_m[:2], axis=1).min()) for j in junctions]
    passed = [junctions[i] for i in np.argsort(away_m, kind="stable") if away_m[i] <= within_m]
    rooms = [_apart(junction.beside_m) for junction in passed]
    turns = range(max(map(len, rooms), default=0))
    found = [
        (junction, room[turn])
        for turn in turns
        for junction, room in zip(passed, rooms, strict=True)
        if turn < len(room)
    ]
    if len(found) < count:
        raise SceneVoid(
            f"{count} roadside units need places at junctions, {len(found)} are within {within_m:g} m of the swarm's way"
        )
    return [
        standing(place_m, _yaw_rad(junction.middle_m - place_m), pole_m=pole_m) for junction, place_m in found[:count]
    ]


def standing(ground_m: FloatArray, yaw_rad: float, *, pole_m: float) -> SE3:
    """Return the pose of a pole's top."""
    return SE3(quaternion.from_yaw(yaw_rad), np.asarray(ground_m + (0.0, 0.0, pole_m), dtype=np.float64))


def _yaw_rad(direction_m: FloatArray) -> float:
    return float(np.arctan2(direction_m[1], direction_m[0]))


def _apart(places_m: FloatArray) -> list[FloatArray]:
    kept: list[FloatArray] = []
    for place in places_m:
        if all(np.linalg.norm(place - other) >= _APART_M for other in kept):
            kept.append(place)
    return kept
