"""Lanes of a vector map as lanelets, cut so that neighbours share borders and successive lanes share end points.

In Lanelet2 a lane follows another one if both borders share their end points. The end points of connected lanes are therefore
merged; connections between distant end points are listed as ``unconnected``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import shapely

from uavsim.maps.changes import components
from uavsim.maps.lanes import lengths_m, points_at
from uavsim.maps.vector_map import VectorMap
from uavsim.typing import FloatArray

_JOINED_M: Final = 0.5
"""Largest distance of merged end points."""
_SAME_M: Final = 0.01
_NEAR_M: Final = 0.02


@dataclass(slots=True, eq=False)
class Line:
    """A border of one lanelet, or of two.

    Attributes:
        points_m: (N, 3) points in the map frame.
        paint: nuScenes' term for the paint along the line.
        joints: indices of the joints at its first and last point.
        users: number of lanelets that it borders.
    """

    points_m: FloatArray
    paint: str
    joints: tuple[int, int]
    users: int = 0


class Side(NamedTuple):
    """A line as a border of a lanelet; ``inverted`` runs from the last point to the first."""

    line: int
    inverted: bool


class Cell(NamedTuple):
    """One lanelet: a lane or a part of a lane."""

    token: str
    left: Side
    right: Side


@dataclass(slots=True, eq=False)
class Lanelets:
    """The lanelets of a town.

    Attributes:
        cells: the lanelets; those of one lane follow each other.
        of_lane: indices of a lane's lanelets by token.
        lines: the borders.
        joints_m: (J, 3) end points of lines in the map frame.
        unconnected: pairs of successive lanes with distant end points.
    """

    cells: list[Cell] = field(default_factory=list)
    of_lane: dict[str, list[int]] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    joints_m: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    unconnected: list[tuple[str, str]] = field(default_factory=list)

    def ends(self, cell: int, *, last: bool) -> tuple[int, int]:
        """Return the joints of a lanelet's left and right border at its begin, or at its end if ``last``."""
        sides = (self.cells[cell].left, self.cells[cell].right)
        left, right = (self.lines[side.line].joints[last != side.inverted] for side in sides)
        return left, right


def cut_lanes(town: VectorMap) -> Lanelets:
    """Return the lanelets of a map without lane changes, which crossable borders express."""
    lanelets = Lanelets()
    borders = _Borders(lanelets.lines)
    for name in ("lane", "lane_connector"):
        layer = town.layer(name)
        for token, fields in zip(layer.tokens, layer.fields, strict=True):
            if fields.get("uav_lane_change"):
                continue
            lanelets.of_lane[token] = []
            left, right = town.borders[token]
            cuts = [0, *town.cuts.get(token, []), len(left.points_m) - 1]
            for low, high in pairwise(cuts):
                sides = (
                    borders.side(fields.get("uav_road", ""), border.points_m[low : high + 1], border.types[low])
                    for border in (left, right)
                )
                lanelets.of_lane[token].append(len(lanelets.cells))
                lanelets.cells.append(Cell(token, *sides))
    _join(town, lanelets, np.array(borders.ends_m).reshape(-1, 3))
    return lanelets


class _Borders:
    """Existing lines by their points; lanelets of one road share them."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._known: dict[tuple[str, bytes], int] = {}
        self.ends_m: list[FloatArray] = []

    def side(self, road: str, points_m: FloatArray, paint: str) -> Side:
        """Return the (N, 3) border as an existing line or as a new one."""
        rounded = np.round(points_m, 4) + 0.0  # no negative zeros
        for inverted in (False, True):
            line = self._known.get((road, rounded[:: -1 if inverted else 1].tobytes()))
            if line is not None:
                self._lines[line].users += 1
                return Side(line, inverted)
        self._known[road, rounded.tobytes()] = len(self._lines)
        self._lines.append(Line(_thinned(rounded), paint, (len(self.ends_m), len(self.ends_m) + 1), users=1))
        self.ends_m += [rounded[0], rounded[-1]]
        return Side(len(self._lines) - 1, inverted=False)


def _thinned(points_m: FloatArray) -> FloatArray:
    """Return a line without duplicate points, which make Lanelet2 reverse lines."""
    inner = points_m[1:-1]
    far = [np.linalg.norm(inner - other, axis=1) > _SAME_M for other in (points_m[:-2], points_m[-1])]
    return np.concatenate([points_m[:1], inner[far[0] & far[1]], points_m[-1:]])


def _join(town: VectorMap, lanelets: Lanelets, ends_m: FloatArray) -> None:
    """Merge the end points of connected lanes."""
    ways = [pair for cells in lanelets.of_lane.values() for pair in pairwise(cells)]
    ways += [
        (cells[-1], lanelets.of_lane[after][0])
        for token, cells in lanelets.of_lane.items()
        for after in town.connectivity[token][1]
        if after in lanelets.of_lane
    ]
    pairs = [
        list(zip(lanelets.ends(before, last=True), lanelets.ends(after, last=False), strict=True))
        for before, after in ways
    ]
    near = [all(np.linalg.norm(ends_m[a] - ends_m[b]) < _JOINED_M for a, b in pair) for pair in pairs]
    root = components(len(ends_m), [ab for pair, is_near in zip(pairs, near, strict=True) if is_near for ab in pair])
    lanelets.joints_m = ends_m[root]
    for line in lanelets.lines:
        first, last = (root[end] for end in line.joints)
        line.joints = (first, last)
        line.points_m[0], line.points_m[-1] = ends_m[first], ends_m[last]
    lanelets.unconnected = [
        (lanelets.cells[before].token, lanelets.cells[after].token)
        for (before, after), is_near in zip(ways, near, strict=True)
        if not is_near
    ]


def stop_places_m(town: VectorMap, row: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield the token of each lane at a stop line, and the (2, 3) left and right end of the line across it."""
    layer = town.layer("stop_line")
    around = shapely.buffer(layer.shapes[row], _NEAR_M, join_style="mitre")  # outer borders are on its edge
    for token in layer.fields[row].get("uav_lane_tokens", []):
        ends = []
        for border in town.borders[token]:
            line = shapely.linestrings(border.points_m[:, :2])
            inside = shapely.points(shapely.get_coordinates(shapely.intersection(line, around)))
            if not len(inside):
                break
            along = max(float(shapely.line_locate_point(line, inside).max()) - _NEAR_M, 0.0)
            ends.append(points_at(np.array([along]), lengths_m(border.points_m), border.points_m)[0])
        if len(ends) == 2:
            yield token, np.array(ends)


def sides_across(ring_m: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the (N, 3) left and right long side of a crossing in walking direction; None without four corners."""
    ring = ring_m[:-1]
    box = shapely.get_coordinates(shapely.oriented_envelope(shapely.multipoints(ring[:, :2])))[:4]
    if len(ring) < 4 or len(box) < 4:
        return None
    if np.linalg.norm(box[1] - box[0]) < np.linalg.norm(box[2] - box[1]):
        box = np.roll(box, -1, axis=0)
    if not shapely.is_ccw(shapely.linearrings(ring[:, :2])):
        ring = ring[::-1]
    if not shapely.is_ccw(shapely.linearrings(box)):
        box = box[::-1]
    corner = [int(np.argmin(np.linalg.norm(ring[:, :2] - corner_xy_m, axis=1))) for corner_xy_m in box]
    if sum((after - before) % len(ring) for before, after in pairwise([*corner, corner[0]])) != len(ring):
        return None
    right, left = _between(ring, corner[0], corner[1]), _between(ring, corner[2], corner[3])
    return left[::-1], right


def _between(ring: FloatArray, low: int, high: int) -> FloatArray:
    return ring[np.arange(low, high + 1 if high >= low else high + len(ring) + 1) % len(ring)]
