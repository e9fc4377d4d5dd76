"""Lane changes between parts of a town that no lane leads to otherwise.

On a ring road with no junction between its lanes each lane is a circle of its own, which only a change of lanes enters.
nuScenes' connectivity knows no changes. Where lanes would stay apart, connectors join them that run from the begin of one lane
to the end of the one beside it, both ways; the paint between them must allow it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from uavsim.maps.lanes import LanePiece, LaneRecord
from uavsim.typing import FloatArray

_SHORTEST_M: Final = 20.0
_USUAL_M: Final = 60.0
"""The length of a change of lanes: three seconds at 70 km/h."""
_STEP_M: Final = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class LaneChange:
    """A way from a lane to the one beside it.

    Attributes:
        begin, end: numbers of the records that it leaves and comes to.
        way: its borders and centre, as one piece.
        before, after: numbers of the records that lead to it, and to which it leads.
    """

    begin: int
    end: int
    way: LanePiece
    before: list[int]
    after: list[int]


def components(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return the part of a graph that each of so many nodes belongs to: the smallest number in it."""
    parent = list(range(count))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in edges:
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    return [root(node) for node in range(count)]


def lane_changes(records: Sequence[LaneRecord], edges: Sequence[tuple[int, int]]) -> list[LaneChange]:
    """Return the changes that join what would stay apart, two for each pair of parts that lie beside each other."""
    before, after = defaultdict(list), defaultdict(list)
    for a, b in edges:
        after[a].append(b)
        before[b].append(a)
    joined = list(edges)
    part = components(len(records), joined)
    if len(set(part)) == 1:
        return []
    found: list[LaneChange] = []
    for a, b, where_m in sorted(_beside(records), key=lambda row: abs(math.log((row[2][1] - row[2][0]) / _USUAL_M))):
        if part[a] == part[b] or not all((before[a], after[b], before[b], after[a])):
            continue
        for begin, end in ((a, b), (b, a)):
            way = _way(records[begin], records[end], where_m)
            found.append(LaneChange(begin, end, way, before[begin], after[end]))
        joined.append((a, b))
        part = components(len(records), joined)
    return found


def _beside(records: Sequence[LaneRecord]) -> Iterator[tuple[int, int, tuple[float, float]]]:
    """Yield pairs of records that lie beside each other from end to end, and the stretch where their border may be crossed."""
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
    """Return the longest stretch of a lane, from and to metres from its begin, along which its outer border is not solid."""
    begin = record.pieces[0].s_m[0]
    parts: list[tuple[float, float]] = []
    for piece in record.pieces:
        low, high = sorted((piece.s_m[0], piece.s_m[-1]))
        marks = piece.lane.marks
        edges = [low, *(min(max(piece.section.s_m + mark.s_m, low), high) for mark in marks), high]
        solid = [False, *("solid" in mark.type for mark in marks)]
        own = [(a, b) for a, b, is_solid in zip(edges, edges[1:], solid, strict=False) if b > a and not is_solid]
        parts += [tuple(sorted((abs(a - begin), abs(b - begin)))) for a, b in own]
    longest, running = (0.0, 0.0), (0.0, 0.0)
    for a, b in sorted(parts):
        running = (running[0], b) if a - running[1] < 1e-6 else (a, b)
        longest = max(longest, running, key=lambda part: part[1] - part[0])
    return longest


def _way(begin: LaneRecord, end: LaneRecord, where_m: tuple[float, float]) -> LanePiece:
    """Return the way from the begin of a lane to the end of the one beside it, which changes in the middle of a stretch."""
    s = begin.joined("s_m")
    along = np.abs(s - s[0])
    at = np.linspace(0.0, along[-1], max(int(along[-1] / _STEP_M), 8))
    long = min(_USUAL_M, where_m[1] - where_m[0])
    part = np.clip((at - (sum(where_m) - long) / 2) / long, 0.0, 1.0)
    share = (part**3 * (10 - 15 * part + 6 * part**2))[:, None]

    def blended(name: str) -> FloatArray:
        first, last = (_at(at, along, record.joined(name)) for record in (begin, end))
        return np.asarray(first * (1 - share) + last * share)

    centre = blended("centre_m")
    ahead = np.gradient(centre[:, :2], at, axis=0)
    yaw = np.arctan2(ahead[:, 1], ahead[:, 0])
    yaw[0], yaw[-1] = begin.pieces[0].yaw_rad[0], end.pieces[-1].yaw_rad[-1]
    left, right = blended("left_m"), blended("right_m")
    return replace(
        begin.pieces[0], s_m=np.interp(at, along, s), left_m=left, right_m=right, centre_m=centre, yaw_rad=yaw
    )


def _at(at: FloatArray, along: FloatArray, points: FloatArray) -> FloatArray:
    return np.stack([np.interp(at, along, points[:, axis]) for axis in range(3)], axis=1)
