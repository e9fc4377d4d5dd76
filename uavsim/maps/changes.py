"""Lane changes between otherwise unconnected parts of a town.

On a ring road without junctions each lane is a separate circle, and nuScenes' connectivity has no lane changes. Connectors
therefore join such lanes, from the begin of one lane to the end of the lane beside it, in both directions, where the paint
between the lanes allows it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from uavsim.maps.lanes import LanePiece, LaneRecord, points_at
from uavsim.typing import FloatArray

_SHORTEST_M: Final = 20.0
_USUAL_M: Final = 60.0
"""Usual length of a lane change: three seconds at 70 km/h."""
_STEP_M: Final = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class LaneChange:
    """A change from a lane to the lane beside it.

    Attributes:
        begin: index of the record that it leaves.
        end: index of the record that it enters.
        way: borders and centre as one piece.
        before: indices of the records that lead to it.
        after: indices of the records that follow it.
    """

    begin: int
    end: int
    way: LanePiece
    before: list[int]
    after: list[int]


def components(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return the smallest node of the connected component of each of ``count`` graph nodes."""
    links = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    smallest: list[int] = np.unique(label, return_index=True)[1][label].tolist()
    return smallest


def lane_changes(records: Sequence[LaneRecord], edges: Sequence[tuple[int, int]]) -> list[LaneChange]:
    """Return the lane changes that join unconnected components, two for each joined pair of lanes."""
    before, after = defaultdict(list), defaultdict(list)
    for a, b in edges:
        after[a].append(b)
        before[b].append(a)
    joined = list(edges)
    part = components(len(records), joined)
    if len(set(part)) == 1:
        return []
    changes: list[LaneChange] = []
    for a, b, where_m in sorted(_beside(records), key=lambda row: abs(math.log((row[2][1] - row[2][0]) / _USUAL_M))):
        if part[a] == part[b] or not all((before[a], after[b], before[b], after[a])):
            continue
        for begin, end in ((a, b), (b, a)):
            way = _way(records[begin], records[end], where_m)
            changes.append(LaneChange(begin, end, way, before[begin], after[end]))
        joined.append((a, b))
        part = components(len(records), joined)
    return changes


def _beside(records: Sequence[LaneRecord]) -> Iterator[tuple[int, int, tuple[float, float]]]:
    """Yield pairs of records beside each other from end to end, and the stretch where their border may be crossed."""
    owner = {piece.key: number for number, record in enumerate(records) for piece in record.pieces}
    for number, record in enumerate(records):
        others = [_outer(piece) for piece in record.pieces]
        other = owner.get(others[0])
        if other is None or [piece.key for piece in records[other].pieces] != others:
            continue
        stretch = _crossable_m(record)
        if records[other].forward == record.forward and stretch[1] - stretch[0] >= _SHORTEST_M:
            yield number, other, stretch


def _outer(piece: LanePiece) -> tuple[str, int, int]:
    road, section, lane = piece.key
    return road, section, lane + (1 if lane > 0 else -1)


def _crossable_m(record: LaneRecord) -> tuple[float, float]:
    """Return the longest stretch of a lane without a solid outer border: distances of its ends from the begin, metres."""
    begin = record.pieces[0].s_m[0]
    parts: list[tuple[float, float]] = []
    for piece in record.pieces:
        low, high = sorted((piece.s_m[0], piece.s_m[-1]))
        marks = piece.lane.marks
        edges = [low, *(min(max(piece.section.s_m + mark.s_m, low), high) for mark in marks), high]
        solid = [False, *("solid" in mark.type for mark in marks)]
        open_parts = [(a, b) for a, b, is_solid in zip(edges, edges[1:], solid, strict=False) if b > a and not is_solid]
        parts += [tuple(sorted((abs(a - begin), abs(b - begin)))) for a, b in open_parts]
    longest, running = (0.0, 0.0), (0.0, 0.0)
    for a, b in sorted(parts):
        running = (running[0], b) if a - running[1] < 1e-6 else (a, b)
        longest = max(longest, running, key=lambda part: part[1] - part[0])
    return longest


def _way(begin: LaneRecord, end: LaneRecord, where_m: tuple[float, float]) -> LanePiece:
    """Return a piece from the begin of a lane to the end of the lane beside it, which changes in the middle of a stretch."""
    s = begin.joined("s_m")
    along = np.abs(s - s[0])
    samples_m = np.linspace(0.0, along[-1], max(int(along[-1] / _STEP_M), 8))
    length_m = min(_USUAL_M, where_m[1] - where_m[0])
    part = np.clip((samples_m - (sum(where_m) - length_m) / 2) / length_m, 0.0, 1.0)
    share = (part**3 * (10 - 15 * part + 6 * part**2))[:, None]

    def blended(name: str) -> FloatArray:
        first, last = (points_at(samples_m, along, record.joined(name)) for record in (begin, end))
        return np.asarray(first * (1 - share) + last * share)

    centre = blended("centre_m")
    ahead = np.gradient(centre[:, :2], samples_m, axis=0)
    yaw = np.arctan2(ahead[:, 1], ahead[:, 0])
    yaw[0], yaw[-1] = begin.pieces[0].yaw_rad[0], end.pieces[-1].yaw_rad[-1]
    left, right = blended("left_m"), blended("right_m")
    return replace(
        begin.pieces[0], s_m=np.interp(samples_m, along, s), left_m=left, right_m=right, centre_m=centre, yaw_rad=yaw
    )
