"""Road surfaces: lanes, junction floors, kerbs and sidewalks, as triangles."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np
from scipy.spatial import Delaunay, QhullError

from headless_simulator.scene import ASPHALT, MATTE, TAG, Float64
from headless_simulator.towns.strips import KERB_M, RAISED, Strip
from headless_simulator.towns.triangle_soup import RGB, Appearance, TriangleSoup, jitter

_FILL_RADIUS_M: Final = 7.0  # junction floors close gaps that a circle of this radius does not fit into
_MERGE_RADIUS_M: Final = 2.5  # the same for lanes that only part and meet, with a verge between them instead of a floor
_FLOOR_BELOW_M: Final = 0.015  # floors are only visible between the lanes
_POINT_STEP_M: Final = 2.0
_KERBSTONE_M: Final = 0.3
UNPAVED: Final = frozenset(["none", "restricted"])  # surfaces between and beside lanes
ASPHALT_RGB: Final[RGB] = (72, 73, 76)
_KIND_RGB: Final[dict[str, RGB]] = {
    "shoulder": (80, 80, 82),
    "parking": (82, 82, 85),
    "biking": (112, 66, 58),
    "border": (88, 86, 82),
}
_SIDEWALK_RGB: Final[RGB] = (151, 147, 140)
_KERB_RGB: Final[RGB] = (176, 173, 167)
_MEDIAN_RGB: Final[RGB] = (86, 112, 62)


def is_raised(strip: Strip) -> bool:
    """Return whether a strip is a sidewalk, median or kerb."""
    return strip.kind in RAISED


def strip_triangles(strip: Strip) -> Float64:
    """Return the (2 (N - 1), 3, 3) triangles of a strip, metres."""
    quads = np.stack([strip.inner_m[:-1], strip.inner_m[1:], strip.outer_m[1:], strip.outer_m[:-1]], axis=1)
    return np.ascontiguousarray(quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3))


def junction_floors(strips: Iterable[Strip]) -> dict[str, Float64]:
    """Return (N, 3, 3) triangles between and under the lanes of each junction, by junction id."""
    borders: dict[str, list[Float64]] = defaultdict(list)
    crossed: set[str] = set()
    for strip in strips:
        if strip.junction and (is_raised(strip) or _turns(strip)):
            crossed.add(strip.junction)
        if strip.junction and is_raised(strip):
            borders[strip.junction].append(_even(strip.inner_m) - (0.0, 0.0, KERB_M))
        elif strip.junction:
            borders[strip.junction] += [_even(strip.inner_m), _even(strip.outer_m)]
    return {
        junction: _fill(np.concatenate(points), _FILL_RADIUS_M if junction in crossed else _MERGE_RADIUS_M)
        for junction, points in borders.items()
    }


def _turns(strip: Strip) -> bool:
    """Return whether a lane turns by more than 45 degrees."""
    ahead = np.diff(strip.centre_m[:, :2], axis=0)
    first, last = ahead[0] / max(np.hypot(*ahead[0]), 1e-9), ahead[-1] / max(np.hypot(*ahead[-1]), 1e-9)
    return bool(first @ last < 0.7)


def _even(line: Float64) -> Float64:
    """Return (M, 3) evenly spaced points of an (N, 3) polyline."""
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], max(2, int(np.ceil(length[-1] / _POINT_STEP_M)) + 1))
    return np.stack([np.interp(at, length, line[:, axis]) for axis in range(3)], axis=1)


def _fill(points: Float64, radius_m: float = _FILL_RADIUS_M) -> Float64:
    """Return triangles with small circumcircles between (N, 3) points; points nearer than 0.4 m share a level."""
    _, first = np.unique(np.round(points[:, :2] / 0.4), axis=0, return_index=True)
    points = points[np.sort(first)]
    if len(points) < 4:
        return np.empty((0, 3, 3))
    try:
        numbers = Delaunay(points[:, :2] - points[:, :2].mean(axis=0)).simplices
    except QhullError:  # all points are collinear
        return np.empty((0, 3, 3))
    corners = points[numbers]
    a, b, c = (np.linalg.norm(corners[:, i, :2] - corners[:, j, :2], axis=1) for i, j in ((0, 1), (1, 2), (2, 0)))
    half = (a + b + c) / 2
    area = np.sqrt(np.maximum(half * (half - a) * (half - b) * (half - c), 0.0))
    steep = np.ptp(corners[:, :, 2], axis=1) > 1.0  # lanes of two levels of a flyover
    keep = (area > 1e-3) & (a * b * c < 4 * radius_m * area) & ~steep
    return np.ascontiguousarray(corners[keep])


def paint_surfaces(
    triangle_soup: TriangleSoup, strips: list[Strip], floors: dict[str, Float64], rng: np.random.Generator
) -> None:
    """Add roads, (N, 3, 3) triangles of junction floors, sidewalks with kerbstones, and medians."""
    for strip in strips:
        if is_raised(strip):
            _raised(triangle_soup, strip, rng)
        elif strip.junction:  # lanes overlap here: one colour makes their order irrelevant
            triangle_soup.ribbon(strip.inner_m, strip.outer_m, Appearance(ASPHALT_RGB, TAG["road"], ASPHALT))
        else:
            if strip.kind in UNPAVED:
                colour = jitter(_MEDIAN_RGB, len(strip.s) - 1, 5, rng)
                triangle_soup.ribbon(strip.inner_m, strip.outer_m, Appearance(colour, TAG["terrain"], MATTE))
                continue
            colour = jitter(_KIND_RGB.get(strip.kind, ASPHALT_RGB), len(strip.s) - 1, 3, rng)
            triangle_soup.ribbon(strip.inner_m, strip.outer_m, Appearance(colour, TAG["road"], ASPHALT))
    for triangles in floors.values():
        triangle_soup.triangles(triangles - (0.0, 0.0, _FLOOR_BELOW_M), Appearance(ASPHALT_RGB, TAG["road"], ASPHALT))


def _raised(triangle_soup: TriangleSoup, strip: Strip, rng: np.random.Generator) -> None:
    """Add a sidewalk or median: kerb face, kerbstone and top."""
    count = len(strip.s) - 1
    width = np.maximum(strip.width_m, 1e-6)[:, None]
    share = np.minimum(_KERBSTONE_M / width, 0.4)
    down = np.array([0.0, 0.0, KERB_M + 0.1])
    stone = strip.inner_m + share * (strip.outer_m - strip.inner_m)
    kerb = Appearance(_KERB_RGB, TAG["sidewalk"], MATTE)
    triangle_soup.ribbon(strip.inner_m - down, strip.inner_m, kerb)
    triangle_soup.ribbon(strip.inner_m, stone, kerb)
    green = strip.kind == "median"
    edge = strip.outer_m - share * (strip.outer_m - strip.inner_m) if green else strip.outer_m
    top = jitter(_MEDIAN_RGB if green else _SIDEWALK_RGB, count, 5, rng)
    triangle_soup.ribbon(stone, edge, Appearance(top, TAG["terrain" if green else "sidewalk"], MATTE))
    if not green and _folds(strip):
        patch = _fill(np.concatenate([stone, edge, (stone + edge) / 2])) - (0.0, 0.0, _FLOOR_BELOW_M)
        triangle_soup.triangles(patch, Appearance(_SIDEWALK_RGB, TAG["sidewalk"], MATTE))
    if green:
        triangle_soup.ribbon(edge, strip.outer_m, kerb)
        triangle_soup.ribbon(strip.outer_m, strip.outer_m - down, kerb)


def _folds(strip: Strip) -> bool:
    """Return whether the outer border runs backward, as at a corner with a radius below the strip's width."""
    along = (np.diff(strip.inner_m[:, :2], axis=0) * np.diff(strip.outer_m[:, :2], axis=0)).sum(axis=1)
    return bool((along < 0).any())
