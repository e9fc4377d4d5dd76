"""Lanes of a vector map as lanelets: cut so that neighbours share their border, and ends so that lanes share their points.

Lanelet2 has no list of which lane leads to which: one follows another where both ends of its borders are the same points. So
the points of lanes that lead to each other are made one here, and a way on that this cannot say is listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import shapely

from uavsim.maps.changes import components
from uavsim.maps.vector_map import VectorMap
from uavsim.typing import FloatArray

__all__ = ["Cell", "Lanelets", "Line", "Side", "cut_lanes", "sides_across", "stop_places_m"]

_JOINED_M: Final = 0.5
"""Farthest that the ends of two lanes that lead to each other lie apart, to be one point."""
_SAME_M: Final = 0.01
_NEAR_M: Final = 0.02


@dataclass(slots=True, eq=False)
class Line:
    """A border of one lanelet, or of two.

    Attributes:
        points_m: (N, 3).
        paint: nuScenes' word, seen along the line.
        joints: the places that its first and its last point are of.
        users: how many lanelets it borders.
    """

    points_m: FloatArray
    paint: str
    joints: tuple[int, int]
    users: int = 0


class Side(NamedTuple):
    """A line as a lanelet has it; ``inverted`` from its last point to its first."""

    line: int
    inverted: bool


class Cell(NamedTuple):
    """One lanelet: a lane, or a part of one."""

    token: str
    left: Side
    right: Side


@dataclass(slots=True, eq=False)
class Lanelets:
    """The lanelets of a town.

    Attributes:
        cells: by number; those of one lane follow each other.
        of_lane: their numbers by the token of the lane.
        lines: of their borders.
        joints_m: (J, 3) where lines begin and end.
        unsaid: pairs of lanes that lead to each other, and whose ends lie apart.
    """

    cells: list[Cell] = field(default_factory=list)
    of_lane: dict[str, list[int]] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    joints_m: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    unsaid: list[tuple[str, str]] = field(default_factory=list)

    def ends(self, cell: int, *, last: bool) -> tuple[int, int]:
        """Return the joints of a lanelet's left and right border at its begin or its end."""
        sides = (self.cells[cell].left, self.cells[cell].right)
        left, right = (self.lines[side.line].joints[last != side.inverted] for side in sides)
        return left, right


def cut_lanes(town: VectorMap) -> Lanelets:
    """Return the lanelets of a map; changes of lanes are none, for a border that may be crossed says them."""
    found = Lanelets()
    borders = _Borders(found.lines)
    for name in ("lane", "lane_connector"):
        layer = town.layer(name)
        for token, fields in zip(layer.tokens, layer.fields, strict=True):
            if fields.get("uav_lane_change"):
                continue
            found.of_lane[token] = []
            left, right = town.borders[token]
            cuts = [0, *town.cuts.get(token, []), len(left.points_m) - 1]
            for low, high in pairwise(cuts):
                sides = (
                    borders.side(fields.get("uav_road", ""), border.points_m[low : high + 1], border.types[low])
                    for border in (left, right)
                )
                found.of_lane[token].append(len(found.cells))
                found.cells.append(Cell(token, *sides))
    _join(town, found, np.array(borders.ends_m).reshape(-1, 3))
    return found


class _Borders:
    """Lines that are there, by their points; they are shared within a road."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._known: dict[tuple[str, bytes], int] = {}
        self.ends_m: list[FloatArray] = []

    def side(self, road: str, points_m: FloatArray, paint: str) -> Side:
        """Return a border as a line that is there, or as a new one."""
        rounded = np.round(points_m, 4) + 0.0  # no negative zeros
        for inverted in (False, True):
            own = self._known.get((road, rounded[:: -1 if inverted else 1].tobytes()))
            if own is not None:
                self._lines[own].users += 1
                return Side(own, inverted)
        self._known[road, rounded.tobytes()] = len(self._lines)
        self._lines.append(Line(_thinned(rounded), paint, (len(self.ends_m), len(self.ends_m) + 1), users=1))
        self.ends_m += [rounded[0], rounded[-1]]
        return Side(len(self._lines) - 1, inverted=False)


def _thinned(points_m: FloatArray) -> FloatArray:
    """Return a line without points that lie on the next one: by such ends Lanelet2 takes a line for its reverse."""
    inner = points_m[1:-1]
    far = [np.linalg.norm(inner - other, axis=1) > _SAME_M for other in (points_m[:-2], points_m[-1])]
    return np.concatenate([points_m[:1], inner[far[0] & far[1]], points_m[-1:]])


def _join(town: VectorMap, found: Lanelets, ends_m: FloatArray) -> None:
    """Make one place of the ends of lanes that lead to each other."""
    ways = [pair for cells in found.of_lane.values() for pair in pairwise(cells)]
    ways += [
        (cells[-1], found.of_lane[after][0])
        for token, cells in found.of_lane.items()
        for after in town.connectivity[token][1]
        if after in found.of_lane
    ]
    pairs = [
        list(zip(found.ends(before, last=True), found.ends(after, last=False), strict=True)) for before, after in ways
    ]
    near = [all(np.linalg.norm(ends_m[a] - ends_m[b]) < _JOINED_M for a, b in pair) for pair in pairs]
    root = components(len(ends_m), [ab for pair, is_near in zip(pairs, near, strict=True) if is_near for ab in pair])
    found.joints_m = ends_m[root]
    for line in found.lines:
        first, last = (root[end] for end in line.joints)
        line.joints = (first, last)
        line.points_m[0], line.points_m[-1] = ends_m[first], ends_m[last]
    found.unsaid = [
        (found.cells[before].token, found.cells[after].token)
        for (before, after), is_near in zip(ways, near, strict=True)
        if not is_near
    ]


def stop_places_m(town: VectorMap, row: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield of each lane at a stop line its token, and the (2, 3) ends of the line across it, left and right."""
    layer = town.layer("stop_line")
    around = shapely.buffer(layer.shapes[row], _NEAR_M, join_style="mitre")  # outer borders lie on its edge
    for token in layer.fields[row].get("uav_lane_tokens", []):
        ends = []
        for border in town.borders[token]:
            line = shapely.linestrings(border.points_m[:, :2])
            inside = shapely.points(shapely.get_coordinates(shapely.intersection(line, around)))
            if not len(inside):
                break
            along = max(float(shapely.line_locate_point(line, inside).max()) - _NEAR_M, 0.0)
            s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(border.points_m[:, :2], axis=0), axis=1))])
            ends.append([np.interp(along, s, border.points_m[:, axis]) for axis in range(3)])
        if len(ends) == 2:
            yield token, np.array(ends)


def sides_across(ring_m: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the long sides of a crossing, (N, 3) left and right of who walks along them; None of what has no four corners."""
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
    corner = [int(np.argmin(np.linalg.norm(ring[:, :2] - place, axis=1))) for place in box]
    if sum((after - before) % len(ring) for before, after in pairwise([*corner, corner[0]])) != len(ring):
        return None
    right, left = _between(ring, corner[0], corner[1]), _between(ring, corner[2], corner[3])
    return left[::-1], right


def _between(ring: FloatArray, low: int, high: int) -> FloatArray:
    return ring[np.arange(low, high + 1 if high >= low else high + len(ring) + 1) % len(ring)]
