"""Walkable areas: sidewalks and crosswalks as convex polygons with bit-identical shared edges."""

from collections.abc import Iterable

import numpy as np
from scipy.spatial import cKDTree

from headless_simulator.scene import Float64
from headless_simulator.towns.arrays import Ints
from headless_simulator.towns.lanes_index import Lanes
from headless_simulator.towns.markings import bounding_rectangle
from headless_simulator.towns.network import WALKABLE, Network, Road, RoadObject
from headless_simulator.towns.planview import evaluate
from headless_simulator.towns.strips import Strip, outer_lanes, road_points
from headless_simulator.towns.verges import Path, joints, paths_beside

Polygon = tuple[tuple[tuple[float, float, float], ...], str]
_SNAP_M = 0.35  # sidewalk ends nearer than this are merged
_CROSSING_M = 2.5  # width of crossings between verges
_REACH_M = 7.0  # largest distance of a crosswalk's end from its kerb


def _outline(road: Road, item: RoadObject) -> Float64:
    """Return the (N, 3) outline of an object, Unreal's axes, metres."""
    if len(item.outline_road):
        s, t, dz = item.outline_road.T
        return road_points(road, s, t, dz)
    local = item.outline_local
    if not len(local):
        half_u, half_v = item.size_m[0] / 2, item.size_m[1] / 2
        local = np.array(
            [(-half_u, -half_v, 0), (half_u, -half_v, 0), (half_u, half_v, 0), (-half_u, half_v, 0)], dtype=np.float64
        )
    at = road_points(road, np.array([item.s]), np.array([item.t]), item.z_m)[0]
    heading = float(evaluate(road.plan, np.array([item.s]))[2][0]) + item.heading_rad
    cos, sin = np.cos(heading), np.sin(heading)
    u, v, z = local.T
    return np.stack([at[0] + u * cos - v * sin, at[1] - (u * sin + v * cos), at[2] + z], axis=1)


def crosswalk_outlines(network: Network) -> list[Float64]:
    """Return the closed (N, 3) outlines of all crosswalk objects, Unreal's axes, metres."""
    outlines = []
    for road in network.roads.values():
        for item in road.objects:
            if item.kind.lower() == "crosswalk":
                outline = _outline(road, item)
                if len(outline) >= 3:
                    closed = np.allclose(outline[0], outline[-1], atol=1e-3)
                    outlines.append(outline if closed else np.concatenate([outline, outline[:1]]))
    return outlines


class _Border:
    """A sidewalk with borders that can be split at stations."""

    def __init__(self, strip: Strip | Path) -> None:
        self.s, self.inner, self.outer = strip.s.copy(), strip.inner_m.copy(), strip.outer_m.copy()

    def cut(self, s: float) -> int:
        """Insert a station and return its index; an existing one within 0.3 m is reused."""
        near = int(np.abs(self.s - s).argmin())
        if abs(self.s[near] - s) < 0.3:
            return near
        index = int(np.searchsorted(self.s, s))
        for name in ("inner", "outer"):
            line = getattr(self, name)
            point = np.array([np.interp(s, self.s, line[:, axis]) for axis in range(3)])
            setattr(self, name, np.insert(line, index, point, axis=0))
        self.s = np.insert(self.s, index, s)
        return index


def _nearest(borders: list[_Border], point: Float64) -> tuple[float, int, float]:
    """Return (distance, border, station) of the kerb point nearest to a point in x, y."""
    best = (np.inf, -1, 0.0)
    for number, border in enumerate(borders):
        a, b = border.inner[:-1, :2], border.inner[1:, :2]
        d = b - a
        share = np.clip(((point - a) * d).sum(axis=1) / np.maximum((d * d).sum(axis=1), 1e-9), 0, 1)
        gap = np.linalg.norm(a + share[:, None] * d - point, axis=1)
        k = int(gap.argmin())
        if gap[k] < best[0]:
            best = (float(gap[k]), number, float(border.s[k] + share[k] * (border.s[k + 1] - border.s[k])))
    return best


def _landings(borders: list[_Border], outline: Float64) -> list[tuple[int, float, float]]:
    """Return (border, station, station) of the kerb span at each end of a crosswalk."""
    corners = bounding_rectangle(outline[:, :2])
    found = []
    for a, b in ((corners[0], corners[3]), (corners[1], corners[2])):
        ends = [_nearest(borders, point) for point in (a, b)]
        middle = _nearest(borders, (a + b) / 2)
        if middle[0] > _REACH_M:
            continue
        border = borders[middle[1]]
        half = min(float(np.linalg.norm(b - a)) / 2, (border.s[-1] - border.s[0]) / 2)
        stations = [end[2] for end in ends if end[1] == middle[1]]
        low, high = (min(stations), max(stations)) if len(stations) == 2 else (middle[2] - half, middle[2] + half)
        low, high = max(low, float(border.s[0])), min(high, float(border.s[-1]))
        if high - low > 0.6:
            found.append((middle[1], low, high))
    return found


def walk_polygons(lanes: Lanes, outlines: Iterable[Float64]) -> tuple[Polygon, ...]:
    """Return sidewalks as quads, and a quad per (N, 3) crosswalk outline (metres) with a sidewalk at both ends.

    If no road has a sidewalk, shoulders and verges replace them, with crossings at the ends of the roads.
    """
    walked: list[Strip | Path] = [
        strip for strip in lanes.strips if strip.kind in WALKABLE and strip.width_m.min() > 0.3
    ]
    beside = [] if walked else paths_beside(outer_lanes(lanes.strips))
    borders = [_Border(strip) for strip in (*walked, *beside)]
    if beside:
        _cut_ends(borders)
    if not borders:
        return ()
    crossings: list[tuple[tuple[int, float, float], tuple[int, float, float]]] = []
    for outline in outlines:
        ends = _landings(borders, outline)
        if len(ends) == 2:
            for border_index, low, high in ends:
                borders[border_index].cut(low)
                borders[border_index].cut(high)
            crossings.append((ends[0], ends[1]))
    points = np.concatenate([np.concatenate([border.inner, border.outer]) for border in borders])
    same = _snapped(borders, points)
    polygons: list[Polygon] = []
    first = 0
    starts = []
    for border in borders:
        count = len(border.s)
        starts.append(first)
        for k in range(count - 1):
            numbers = (first + k, first + k + 1, first + count + k + 1, first + count + k)
            _add(polygons, points, [int(same[number]) for number in numbers], "sidewalk")
        first += 2 * count
    for one, other in joints(beside):
        across = beside[one[0]].road == beside[other[0]].road
        corners = [same[k] for end in (one, other) for k in _end_corners(borders, starts, end, across=across)]
        if len(set(corners)) == 4:
            _add(polygons, points, _convex_order(points, [int(k) for k in corners]), "crosswalk")
    for pair in crossings:
        quad: list[int] = []
        for border_index, low, high in pair:
            line = borders[border_index]
            a, b = (starts[border_index] + int(np.abs(line.s - s).argmin()) for s in (low, high))
            if b - a > 1:  # a station between them would leave a T-junction: the crossing uses only the first span
                b = a + 1
            quad += [int(same[a]), int(same[b])]
        if len(set(quad)) == 4:
            _add(polygons, points, _convex_order(points, quad), "crosswalk")
    return tuple(polygons)


def _cut_ends(borders: list[_Border]) -> None:
    """Split each path so that its first and last piece are as long as a crossing is wide."""
    for border in borders:
        first, last = float(border.s[0]), float(border.s[-1])
        if last - first > 3 * _CROSSING_M:
            border.cut(first + _CROSSING_M)
            border.cut(last - _CROSSING_M)


def _end_corners(borders: list[_Border], starts: list[int], end: tuple[int, int], *, across: bool) -> tuple[int, int]:
    """Return two point numbers at a path's end (path, 0 or -1): on its road-side edge, else on its end."""
    number, end_index = end
    count = len(borders[number].s)
    at, beside = (0, 1) if end_index == 0 else (count - 1, count - 2)
    first = starts[number]
    return (first + at, first + beside) if across else (first + at, first + count + at)


def _snapped(borders: list[_Border], points: Float64) -> Ints:
    """Return the (N,) representative number of each (N, 3) point: coincident ends of different sidewalks are merged."""
    ends, first = [], 0
    for border in borders:
        count = len(border.s)
        ends += [first, first + count - 1, first + count, first + 2 * count - 1]
        first += 2 * count
    number = np.arange(len(points))
    tree = cKDTree(points[ends])
    for a, b in sorted(tree.query_pairs(_SNAP_M)):
        low, high = sorted((number[ends[a]], number[ends[b]]))
        number[number == high] = low
    return number


def _convex_order(points: Float64, quad: list[int]) -> list[int]:
    middle = points[quad, :2].mean(axis=0)
    angle = np.arctan2(*(points[quad, :2] - middle).T[::-1])
    return [quad[k] for k in np.argsort(angle, kind="stable")]


def _add(polygons: list[Polygon], points: Float64, numbers: list[int], area: str) -> None:
    """Add a polygon; a non-convex quad becomes two triangles."""
    numbers = list(dict.fromkeys(numbers))
    if len(numbers) < 3:
        return
    xy = points[numbers, :2]
    turn = np.array([_cross(xy[k - 1], xy[k], xy[(k + 1) % len(xy)]) for k in range(len(xy))])
    pieces = [numbers]
    if len(numbers) == 4 and not (np.all(turn > 1e-6) or np.all(turn < -1e-6)):
        pieces = [[numbers[0], numbers[1], numbers[2]], [numbers[0], numbers[2], numbers[3]]]
    for piece in pieces:
        corners = points[piece]
        if abs(_cross(*corners[:3, :2])) > 1e-4:
            rows = tuple((round(float(x), 4), round(float(y), 4), round(float(z), 4)) for x, y, z in corners)
            polygons.append((rows, area))


def _cross(a: Float64, b: Float64, c: Float64) -> float:
    return float((b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]))
