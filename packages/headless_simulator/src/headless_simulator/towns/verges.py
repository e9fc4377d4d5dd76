"""Pedestrian paths beside roads without sidewalks: shoulders, else verges, joined across road ends and at corners."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from headless_simulator.scene import Float64
from headless_simulator.towns.strips import Strip

_WIDE_M: Final = 1.0  # pedestrians use the verge beside narrower shoulders
_VERGE_M: Final = 1.6
_ENDS_APART_M: Final = 30.0  # largest gap between joined path ends
_LONGEST_M: Final = 60.0  # of a crossing at a road's end


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A path beside one road: stations and (N, 3) borders."""

    road: str
    s: Float64
    inner_m: Float64
    outer_m: Float64


def paths_beside(outer_lanes: list[Strip]) -> list[Path]:
    """Return one path per road side outside junctions, from the outermost lanes."""
    paths = []
    for strip in outer_lanes:
        if strip.junction or strip.kind == "curb":
            continue
        if strip.kind in ("shoulder", "border") and float(strip.width_m.min()) >= _WIDE_M:
            paths.append(Path(strip.road, strip.s, strip.inner_m, strip.outer_m))
            continue
        side = strip.outer_m - strip.inner_m
        side = side / np.maximum(np.linalg.norm(side[:, :2], axis=1, keepdims=True), 1e-6) * (_VERGE_M, _VERGE_M, 0.0)
        paths.append(Path(strip.road, strip.s, strip.outer_m, strip.outer_m + side))
    return paths


def joints(paths: list[Path]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return joined ends (path, 0 or -1): across the end of one road, and to the nearest end of another."""
    ends = [(number, end) for number in range(len(paths)) for end in (0, -1)]
    if len(ends) < 2:
        return []
    spots = np.array([(paths[number].inner_m[end] + paths[number].outer_m[end])[:2] / 2 for number, end in ends])
    found: set[tuple[int, int]] = set()
    for one, near in enumerate(cKDTree(spots).query_ball_point(spots, _LONGEST_M)):
        by_gap = sorted((float(np.hypot(*(spots[other] - spots[one]))), other) for other in near if other != one)
        road = paths[ends[one][0]].road
        across = [other for _, other in by_gap if paths[ends[other][0]].road == road and ends[other][0] != ends[one][0]]
        on = [other for gap, other in by_gap if paths[ends[other][0]].road != road and gap < _ENDS_APART_M]
        for other in (*across[:1], *on[:1]):
            found.add((min(one, other), max(one, other)))
    return [(ends[a], ends[b]) for a, b in sorted(found)]
