"""Buildings, with the origin at the centre of the footprint: x along the street, y in depth, metres."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.scene import GLASS, WINDOW, Mesh
from headless_simulator.towns.objects import single
from headless_simulator.towns.solids import add_box, add_cylinder, add_gable_roof, wall_grid
from headless_simulator.towns.triangle_soup import RGB, TriangleSoup, appearance_of

_WALLS: Final[dict[str, tuple[RGB, ...]]] = {
    "tower": ((176, 182, 190), (120, 128, 138), (205, 202, 194), (96, 112, 128), (150, 138, 124), (188, 192, 190)),
    "block": (
        (168, 118, 92),
        (190, 170, 140),
        (206, 196, 176),
        (142, 84, 68),
        (176, 176, 172),
        (156, 132, 112),
        (120, 98, 88),
    ),
    "shop": ((198, 188, 170), (170, 150, 130), (150, 158, 162), (188, 110, 82)),
    "house": ((222, 214, 198), (206, 188, 160), (188, 196, 200), (214, 206, 208), (170, 120, 96), (232, 228, 218)),
    "barn": ((140, 58, 46), (150, 138, 120), (118, 104, 88), (176, 172, 164)),
}
_ROOFS: Final[tuple[RGB, ...]] = ((150, 148, 144), (118, 118, 120), (168, 162, 152), (92, 92, 96), (132, 120, 110))
_TILES: Final[tuple[RGB, ...]] = ((146, 74, 54), (110, 62, 50), (88, 84, 84), (120, 104, 92), (70, 74, 80))
_PANES: Final[tuple[RGB, ...]] = ((52, 66, 84), (66, 84, 102), (44, 52, 64), (78, 98, 112))
_METAL: Final[RGB] = (158, 162, 166)
_FLOOR_M: Final = 3.4
_Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Footprint:
    """Length along the street and depth, metres; ``detail`` False omits single windows (distant buildings)."""

    length_m: float
    depth_m: float
    detail: bool = True


def _pick(colours: tuple[RGB, ...], rng: _Rng) -> RGB:
    base = colours[int(rng.integers(len(colours)))]
    shift = int(rng.integers(-9, 10))
    red, green, blue = (int(np.clip(value + shift, 0, 255)) for value in base)
    return red, green, blue


def _flat_roof(
    triangle_soup: TriangleSoup, half: tuple[float, float], top_m: float, wall: RGB, rng: _Rng, *, detail: bool = True
) -> None:
    """Add a roof slightly below its parapet, with plant rooms and ventilators if ``detail``."""
    hx, hy = half
    roof = _pick(_ROOFS, rng)
    if not detail:
        lid = np.array([[(-hx, -hy, top_m), (hx, -hy, top_m), (hx, hy, top_m), (-hx, hy, top_m)]])
        triangle_soup.quads(lid, appearance_of(roof, "building"))
        add_box(
            triangle_soup,
            (-hx * 0.4, -hy * 0.3, top_m),
            (hx * 0.2, hy * 0.4, top_m + 2.2),
            appearance_of(wall, "building"),
        )
        return
    base = top_m - 0.7
    triangle_soup.quads(
        np.array([[(-hx, -hy, base), (hx, -hy, base), (hx, hy, base), (-hx, hy, base)]]),
        appearance_of(roof, "building"),
    )
    light: RGB = (min(wall[0] + 18, 255), min(wall[1] + 18, 255), min(wall[2] + 18, 255))
    t = 0.35
    rims = (
        ((-hx, -hy), (hx, -hy + t)),
        ((-hx, hy - t), (hx, hy)),
        ((-hx, -hy), (-hx + t, hy)),
        ((hx - t, -hy), (hx, hy)),
    )
    for (x0, y0), (x1, y1) in rims:
        triangle_soup.quads(
            np.array([[(x0, y0, top_m), (x1, y0, top_m), (x1, y1, top_m), (x0, y1, top_m)]]),
            appearance_of(light, "building"),
        )
        inner = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        walls = [
            [(*a, base), (*b, base), (*b, top_m), (*a, top_m)]
            for a, b in zip(inner, inner[1:] + inner[:1], strict=True)
        ]
        triangle_soup.quads(np.array(walls), appearance_of(wall, "building"))
    for _ in range(int(rng.integers(1, 4))):
        sx, sy = rng.uniform(1.2, max(1.4, hx * 0.35)), rng.uniform(1.0, max(1.2, hy * 0.35))
        x, y = rng.uniform(-hx + sx + 1, hx - sx - 1), rng.uniform(-hy + sy + 1, hy - sy - 1)
        tall = float(rng.uniform(1.2, 3.2))
        shade = appearance_of(_pick(_ROOFS, rng), "building")
        add_box(
            triangle_soup,
            (x - sx, y - sy, base),
            (x + sx, y + sy, base + tall),
            shade,
            appearance_of(_METAL, "building"),
        )
    for _ in range(int(rng.integers(0, 4))):
        x, y = rng.uniform(-hx + 2, hx - 2), rng.uniform(-hy + 2, hy - 2)
        add_cylinder(triangle_soup, (x, y, base), 0.7, 1.0, appearance_of(_METAL, "building"))


def _walls(triangle_soup: TriangleSoup, half: tuple[float, float], span_m: tuple[float, float], wall: RGB) -> None:
    hx, hy = half
    corners = [(hx, -hy), (hx, hy), (-hx, hy), (-hx, -hy)]
    low, high = span_m
    faces = [
        [(*a, low), (*b, low), (*b, high), (*a, high)] for a, b in zip(corners, corners[1:] + corners[:1], strict=True)
    ]
    triangle_soup.quads(np.array(faces), appearance_of(wall, "building"))


def _storeys(
    triangle_soup: TriangleSoup, half: tuple[float, float], span_m: tuple[float, float], style: str, rng: _Rng
) -> None:
    """Add windows: "plain" rows, "bands" of glass, a "grid" of panes, or "tall" panes over two storeys."""
    hx, hy = half
    low, high = (-hx, -hy, span_m[0]), (hx, hy, span_m[1])
    pane = appearance_of(_pick(_PANES, rng), "building", WINDOW)
    if style == "plain":  # one pane per storey and side, for distant buildings
        quads = wall_grid(low, high, floor_m=_FLOOR_M, first_m=1.0, pitch_m=18.0, size_m=(30.0, 1.7))
    elif style == "bands":
        quads = wall_grid(low, high, floor_m=_FLOOR_M, first_m=1.0, pitch_m=5.2, size_m=(5.1, 1.7))
    elif style == "tall":
        quads = wall_grid(low, high, floor_m=2 * _FLOOR_M, first_m=0.8, pitch_m=3.6, size_m=(2.2, 5.2))
    else:
        quads = wall_grid(low, high, floor_m=_FLOOR_M, first_m=1.0, pitch_m=3.7, size_m=(1.9, 1.7))
    triangle_soup.quads(quads, pane)


def _shop_front(triangle_soup: TriangleSoup, half: tuple[float, float], rng: _Rng) -> None:
    hx, hy = half
    quads = wall_grid(
        (-hx, -hy, 0.0), (hx, hy, 4.2), floor_m=9.0, first_m=0.5, pitch_m=5.0, size_m=(4.2, 2.6), proud_m=0.05
    )
    triangle_soup.quads(quads, appearance_of((46, 58, 66), "building", GLASS))
    awning = [(166, 52, 44), (44, 92, 80), (196, 160, 70), (64, 78, 120)][int(rng.integers(4))]
    add_box(triangle_soup, (-hx + 1, -hy - 0.9, 3.5), (hx - 1, -hy, 3.8), appearance_of(awning, "building"))


def tower(footprint: Footprint, rng: _Rng) -> Mesh:
    """A high-rise: base, shaft, sometimes a setback top."""
    triangle_soup, hx, hy = TriangleSoup(), footprint.length_m / 2, footprint.depth_m / 2
    wall = _pick(_WALLS["tower"], rng)
    floors = int(rng.integers(7, 12))
    style = ("bands", "grid", "tall")[int(rng.integers(3))] if footprint.detail else "plain"
    top = 4.5 + floors * _FLOOR_M + 0.8
    setback = rng.random() < 0.45 and min(hx, hy) > 7
    lower = top if not setback else 4.5 + int(floors * rng.uniform(0.35, 0.7)) * _FLOOR_M + 0.8
    _walls(triangle_soup, (hx, hy), (-0.6, lower), wall)
    _storeys(triangle_soup, (hx, hy), (4.5, lower), style, rng)
    if footprint.detail:
        _shop_front(triangle_soup, (hx, hy), rng)
    _flat_roof(triangle_soup, (hx, hy), lower, wall, rng, detail=footprint.detail)
    if setback:
        sx, sy = hx - rng.uniform(1.8, 3.5), hy - rng.uniform(1.8, 3.5)
        _walls(triangle_soup, (sx, sy), (lower - 0.7, top), wall)
        _storeys(triangle_soup, (sx, sy), (lower, top), style, rng)
        _flat_roof(triangle_soup, (sx, sy), top, wall, rng, detail=footprint.detail)
    return single(triangle_soup)


def block(footprint: Footprint, rng: _Rng) -> Mesh:
    """A block of flats with shops below."""
    triangle_soup, hx, hy = TriangleSoup(), footprint.length_m / 2, footprint.depth_m / 2
    wall = _pick(_WALLS["block"], rng)
    top = 4.2 + int(rng.integers(3, 7)) * _FLOOR_M + 0.8
    _walls(triangle_soup, (hx, hy), (-0.6, top), wall)
    _storeys(triangle_soup, (hx, hy), (4.2, top), "grid" if footprint.detail else "plain", rng)
    if footprint.detail:
        _shop_front(triangle_soup, (hx, hy), rng)
    _flat_roof(triangle_soup, (hx, hy), top, wall, rng, detail=footprint.detail)
    return single(triangle_soup)


def shop(footprint: Footprint, rng: _Rng) -> Mesh:
    """A low shop or hall."""
    triangle_soup, hx, hy = TriangleSoup(), footprint.length_m / 2, footprint.depth_m / 2
    wall = _pick(_WALLS["shop"], rng)
    top = float(rng.uniform(5.0, 8.5))
    _walls(triangle_soup, (hx, hy), (-0.6, top), wall)
    if footprint.detail:
        _shop_front(triangle_soup, (hx, hy), rng)
    _flat_roof(triangle_soup, (hx, hy), top, wall, rng, detail=footprint.detail)
    return single(triangle_soup)


def house(footprint: Footprint, rng: _Rng) -> Mesh:
    """A family house with a gabled roof, a chimney, sometimes a garage."""
    triangle_soup, hx, hy = TriangleSoup(), footprint.length_m / 2, footprint.depth_m / 2
    wall, roof = _pick(_WALLS["house"], rng), appearance_of(_pick(_TILES, rng), "building")
    top = 2.9 * int(rng.integers(1, 3)) + 0.4
    garage = footprint.length_m > 12.5
    right = hx - 3.6 if garage else hx
    _house_body(triangle_soup, (-hx, -hy), (right, hy), top, wall)
    ridge = (hy * 2) / 2 * float(rng.uniform(0.55, 0.85))
    add_gable_roof(triangle_soup, (-hx, -hy, 0.0), (right, hy, top), ridge, (roof, appearance_of(wall, "building")))
    x, y = float(rng.uniform(-hx + 1, right - 1)), hy * 0.3
    add_box(
        triangle_soup,
        (x - 0.4, y - 0.4, top),
        (x + 0.4, y + 0.4, top + ridge + 0.6),
        appearance_of((122, 84, 70), "building"),
    )
    if garage:
        add_box(
            triangle_soup,
            (right, -hy, -0.6),
            (hx, hy * 0.5, 2.7),
            appearance_of(wall, "building"),
            appearance_of(_pick(_ROOFS, rng), "building"),
        )
    return single(triangle_soup)


def _house_body(
    triangle_soup: TriangleSoup, low: tuple[float, float], high: tuple[float, float], top_m: float, wall: RGB
) -> None:
    add_box(triangle_soup, (*low, -0.6), (*high, top_m), appearance_of(wall, "building"))
    quads = wall_grid((*low, 0.0), (*high, top_m + 0.4), floor_m=2.9, first_m=0.9, pitch_m=3.2, size_m=(1.3, 1.3))
    triangle_soup.quads(quads, appearance_of((58, 70, 82), "building", WINDOW))


def villa(footprint: Footprint, rng: _Rng) -> Mesh:
    """A modern flat-roofed house."""
    triangle_soup, hx, hy = TriangleSoup(), footprint.length_m / 2, footprint.depth_m / 2
    wall = _pick(_WALLS["house"], rng)
    _house_body(triangle_soup, (-hx, -hy), (hx, hy), 3.4, wall)
    split = float(rng.uniform(-0.2, 0.4)) * hx
    add_box(
        triangle_soup,
        (-hx, -hy, 3.0),
        (split, hy * 0.8, 6.4),
        appearance_of(wall, "building"),
        appearance_of(_pick(_ROOFS, rng), "building"),
    )
    quads = wall_grid((-hx, -hy, 3.4), (split, hy * 0.8, 6.9), floor_m=3.0, first_m=0.8, pitch_m=3.4, size_m=(2.2, 1.6))
    triangle_soup.quads(quads, appearance_of((58, 70, 82), "building", WINDOW))
    return single(triangle_soup)


def barn(footprint: Footprint, rng: _Rng) -> Mesh:
    """A barn or shed with a wide roof."""
    triangle_soup, hx, hy = TriangleSoup(), footprint.length_m / 2, footprint.depth_m / 2
    wall = appearance_of(_pick(_WALLS["barn"], rng), "building")
    top = float(rng.uniform(3.6, 5.2))
    add_box(triangle_soup, (-hx, -hy, -0.6), (hx, hy, top), wall)
    tiles = appearance_of(_pick(_TILES, rng), "building")
    add_gable_roof(triangle_soup, (-hx, -hy, 0.0), (hx, hy, top), hy * 0.6, (tiles, wall), overhang_m=0.6)
    add_box(triangle_soup, (-1.8, -hy - 0.05, 0.0), (1.8, -hy, 3.2), appearance_of((84, 66, 52), "building"))
    return single(triangle_soup)


def silo(footprint: Footprint, rng: _Rng) -> Mesh:
    """A pair of grain silos."""
    triangle_soup, radius = TriangleSoup(), min(footprint.length_m / 4, footprint.depth_m / 2, 3.6)
    for x in (-footprint.length_m / 4, footprint.length_m / 4):
        tall = float(rng.uniform(8, 12))
        shade = appearance_of(_METAL, "building")
        add_cylinder(triangle_soup, (x, 0.0, -0.6), radius, tall + 0.6, shade, sides=10)
        add_cylinder(
            triangle_soup, (x, 0.0, tall), radius, 1.8, appearance_of((134, 138, 142), "building"), sides=10, taper=0.1
        )
    return single(triangle_soup)


KINDS: Final[dict[str, Callable[[Footprint, _Rng], Mesh]]] = {
    "tower": tower,
    "block": block,
    "shop": shop,
    "house": house,
    "villa": villa,
    "barn": barn,
    "silo": silo,
}
DEPTH_M: Final[dict[str, tuple[float, float]]] = {
    "tower": (16, 26),
    "block": (12, 18),
    "shop": (12, 20),
    "house": (8, 10.5),
    "villa": (9, 13),
    "barn": (9, 14),
    "silo": (8, 9),
}
