"""Trees, lamp posts and furniture on sidewalks; trees on open land."""

from typing import Final

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.furniture import FURNITURE, lamp_post
from headless_simulator.towns.ground import WALK, label_of
from headless_simulator.towns.objects import single
from headless_simulator.towns.placement import Works
from headless_simulator.towns.site import along, off_origin
from headless_simulator.towns.solids import add_box
from headless_simulator.towns.strips import Strip, outer_lanes
from headless_simulator.towns.triangle_soup import Appearance, appearance_of
from headless_simulator.towns.vegetation import plant
from headless_simulator.towns.water import paint_parapet

_OUTER_PER_HA: Final = {"paved": 5.0, "lawn": 4.0, "fields": 4.0}
_WIDE_HA: Final = 6000.0  # larger towns have trees beside roads only
_BESIDE_ROADS_M: Final = 120.0
_MOST_TREES: Final = 60_000
_OUTER_M: Final = 260.0
_RAILS_KMH: Final = 85.0


def plant_streets(works: Works, strips: list[Strip]) -> None:
    """Place trees, lamp posts and furniture along the kerbs of sidewalks."""
    style, rng = works.style, works.rng
    spots: list[Float64] = []
    for strip in strips:
        width = float(strip.width_m.mean())
        if strip.kind != "sidewalk" or strip.junction or width < 1.8:
            continue
        kerb = strip.inner_m + (strip.outer_m - strip.inner_m) * min(0.8 / width, 0.5)
        if style.lamps_m:
            _lamps(works, kerb, (strip.outer_m - strip.inner_m)[0, :2])
        if style.street_trees_m:
            points, _ = along(kerb, style.street_trees_m, 14.0, 14.0)
            spots.append(points[(rng.random(len(points)) < 0.85) & works.site.open_to(points[:, :2])])
        if style.hydrants:
            _furnish(works, strip)
    if spots:
        plant(works.stock, np.concatenate(spots), rng, conifers=0.0, size=0.85, clumps=5)


def _lamps(works: Works, kerb: Float64, outward: Float64) -> None:
    """Place lamp posts with arms over the road."""
    points, ahead = along(kerb, works.style.lamps_m, 6.0, 4.0)
    mesh = single(lamp_post())
    free = off_origin(points)
    for point, direction in zip(points[free], ahead[free], strict=True):
        left = np.array([-direction[1], direction[0]])
        inward = left if left @ outward < 0 else -left
        yaw = float(np.degrees(np.arctan2(inward[1], inward[0])))
        works.stock.add_mesh("StreetLight", "pole", mesh, (point[0], point[1], point[2], yaw))


def _furnish(works: Works, strip: Strip) -> None:
    """Place furniture at the back of a sidewalk, facing the road."""
    rng = works.rng
    points, ahead = along(strip.outer_m + (strip.inner_m - strip.outer_m) * 0.25, 17.0, 9.0, 9.0)
    names = list(FURNITURE)
    free = works.site.open_to(points[:, :2])
    for point, direction in zip(points[free], ahead[free], strict=True):
        if rng.random() < 0.45:
            name = names[int(rng.choice(len(names), p=[0.4, 0.35, 0.13, 0.12]))]
            inward = np.array([-direction[1], direction[0]])
            inward = inward if inward @ (strip.inner_m - strip.outer_m)[0, :2] > 0 else -inward
            yaw = float(np.degrees(np.arctan2(inward[1], inward[0])))
            works.stock.add_mesh(name, "static", single(FURNITURE[name]()), (point[0], point[1], point[2], yaw))


def put_parapets(works: Works, strips: list[Strip]) -> None:
    """Place walls at the sides of bridges over the river."""
    if len(works.site.river.line_m):
        for strip in outer_lanes(strips):
            points, _ = along(strip.outer_m, 2.0, 0.0, 0.0)
            if len(points) > 1:
                paint_parapet(works.stock.triangle_soup, works.site.river, points)


def put_rails(works: Works, strips: list[Strip]) -> None:
    """Place guard rails beside motorways and on their medians."""
    rail = appearance_of((150, 154, 158), "guard_rail")
    fast = [strip for strip in strips if not strip.junction and strip.limit_kmh >= _RAILS_KMH]
    for strip in fast:
        if strip.kind == "median":
            for share in (0.15, 0.85):
                _rail(works, strip.outer_m + share * (strip.inner_m - strip.outer_m), rail, on_road=True)
    for strip in outer_lanes(fast):
        side = strip.outer_m - strip.inner_m
        _rail(works, strip.outer_m + 0.3 * side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 0.1), rail)


def _rail(works: Works, line: Float64, rail: Appearance, *, on_road: bool = False) -> None:
    """Place a rail with posts along a line, except across other roads."""
    triangle_soup = works.stock.triangle_soup
    low, high = np.array([0.0, 0.0, 0.42]), np.array([0.0, 0.0, 0.76])
    points, _ = along(line, 4.0, 0.5, 0.0)
    if len(points) < 2:
        return
    clear = (label_of(works.site.land, points[:, :2]) < WALK) | on_road
    both = clear[1:] & clear[:-1]
    quads = np.stack([points[:-1] + low, points[1:] + low, points[1:] + high, points[:-1] + high], axis=1)
    triangle_soup.quads(quads[both], rail)
    for x, y, z in points[::2][clear[::2]].tolist():
        add_box(triangle_soup, (x - 0.06, y - 0.06, z - 0.3), (x + 0.06, y + 0.06, z + 0.7), rail)


def plant_land(works: Works) -> None:
    """Plant scattered trees and woods on free land, including distant visible land."""
    style, rng, site = works.style, works.rng, works.site
    low, high = site.land.rim
    area_ha = float(np.prod(high - low)) / 1e4
    spots = rng.uniform(low, high, size=(int(area_ha * style.trees_per_ha), 2))
    parts = [spots]
    for centre in rng.uniform(low, high, size=(int(area_ha * style.woods / 0.3), 2)):
        count = int(rng.integers(14, 34))
        parts.append(centre + rng.standard_normal((count, 2)) * rng.uniform(9, 22))
    spots = np.concatenate(parts)
    if area_ha > _WIDE_HA:
        spots = spots[site.land.clear_at(spots) < _BESIDE_ROADS_M]
        spots = spots[:: -(-len(spots) // _MOST_TREES) or 1]
    spots = spots[((spots > low + 1) & (spots < high - 1)).all(axis=1)]
    spots = _spread(spots[site.free(spots, 3.0)], 4.0)
    plant(works.stock, np.c_[spots, site.land.height_at(spots)], rng, conifers=style.conifers)

    outer = rng.uniform(
        low - _OUTER_M, high + _OUTER_M, size=(int(_outer_ha(low, high) * _OUTER_PER_HA[style.land]), 2)
    )
    outer = _spread(outer[((outer < low) | (outer > high)).any(axis=1) & site.open_to(outer)], 6.0)
    plant(
        works.stock,
        np.c_[outer, site.land.far_height_at(outer)],
        rng,
        conifers=max(style.conifers, 0.35),
        size=1.1,
        clumps=1,
    )


def _outer_ha(low: Float64, high: Float64) -> float:
    return float(np.prod(high - low + 2 * _OUTER_M) - np.prod(high - low)) / 1e4


def _spread(spots: Float64, apart_m: float) -> Float64:
    """Return the first of (N, 2+) spots in every square of side ``apart_m``."""
    if not len(spots):
        return spots
    _, first = np.unique(np.floor(spots / apart_m), axis=0, return_index=True)
    chosen: Float64 = spots[np.sort(first)]
    return chosen
