"""Placement of buildings along streets and of a skyline around the town."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.buildings import DEPTH_M, KINDS, Footprint
from headless_simulator.towns.objects import Stock
from headless_simulator.towns.site import Site, points_at
from headless_simulator.towns.strips import Strip, outer_lanes
from headless_simulator.towns.styles import Style

_OUTSKIRTS_M: Final = 430.0
_STEEPEST_M: Final = 3.0  # largest height difference under a building
_GAP_M: Final = 0.4  # between neighbours
_ROW_M: Final = 27.0  # from one row of buildings to the next behind it
_BACK_M: Final = 18.0  # simple buildings keep this far from roads
_NO_FRONTS_KMH: Final = 85.0  # no buildings along a motorway
_Rng = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Works:
    """Site, style and random generator of placed objects."""

    site: Site
    stock: Stock
    style: Style
    rng: _Rng


def street_fronts(strips: list[Strip]) -> list[tuple[Float64, Float64]]:
    """Return the outer edge of every road side outside junctions: (N, 3) points and (N, 2) outward unit normals."""
    fronts = []
    for strip in outer_lanes([strip for strip in strips if not strip.junction and strip.limit_kmh < _NO_FRONTS_KMH]):
        side = (strip.outer_m - strip.inner_m)[:, :2]
        normal = side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-6)
        fronts.append((strip.outer_m, normal))
    return fronts


def _stand(works: Works, kind: str, centre_m: Float64, yaw_deg: float, footprint: Footprint) -> bool:
    """Place one building if its footprint is free and level enough; returns whether it is."""
    if any(np.hypot(*(centre_m - (x, y))) < radius + footprint.length_m / 2 for x, y, radius in works.style.parks_m):
        return False
    cos, sin = np.cos(np.radians(yaw_deg)), np.sin(np.radians(yaw_deg))
    reach = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (footprint.length_m / 2, footprint.depth_m / 2)
    height = works.site.land.height_at(centre_m + reach @ np.array([[cos, sin], [-sin, cos]]))
    if np.ptp(height) > _STEEPEST_M:
        return False
    if not works.site.place_rectangle(centre_m, yaw_deg, (footprint.length_m, footprint.depth_m), gap_m=_GAP_M):
        return False
    mesh = KINDS[kind](footprint, works.rng)
    foot = float(height.min() + 0.3 * np.ptp(height)) + 0.05
    works.stock.add_mesh("Building", "building", mesh, (float(centre_m[0]), float(centre_m[1]), foot, yaw_deg))
    return True


def build_fronts(works: Works, strips: list[Strip]) -> None:
    """Place buildings along the streets, then more rows behind them."""
    fronts = street_fronts(strips)
    for row in range(works.style.rows):
        for line, normal in fronts:
            _front(works, line, normal, _ROW_M * row)


def _front(works: Works, line: Float64, normal: Float64, behind_m: float) -> None:
    """Place buildings along one road side; the first and last may extend past its ends, at the corner."""
    style, rng = works.style, works.rng
    kinds, weights = list(style.front), np.array(list(style.front.values()))
    span = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line[:, :2], axis=0), axis=1))])
    at = -float(rng.uniform(6.0, 14.0))
    while at < span[-1]:
        kind = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
        length, depth = float(rng.uniform(*style.plot_m)), float(rng.uniform(*DEPTH_M[kind]))
        if rng.random() > style.filled:
            at += length + 2.0
            continue
        middle = at + length / 2
        points, ahead = points_at(line, np.array([np.clip(middle, 0, span[-1])]))
        over = middle - float(np.clip(middle, 0, span[-1]))
        out = normal[int(np.clip(np.searchsorted(span, middle) - 1, 0, len(normal) - 1))]
        setback = float(rng.uniform(*style.setback_m)) + behind_m
        centre = points[0, :2] + ahead[0] * over + out * (setback + depth / 2)
        yaw = float(np.degrees(np.arctan2(-out[0], out[1])))
        is_placed = _stand(works, kind, centre, yaw, Footprint(length, depth))
        at += (length + rng.uniform(1.0, 3.5)) if is_placed else 4.0


def build_outskirts(works: Works) -> None:
    """Place simpler buildings around the roads, so that no camera above the town sees an empty plain."""
    style, rng, land = works.style, works.rng, works.site.land
    if style.outskirts == "none":
        return
    low, high = land.rim
    city = style.outskirts == "city"
    pitch = 46.0 if city else 34.0
    xs, ys = (np.arange(low[axis] - _OUTSKIRTS_M, high[axis] + _OUTSKIRTS_M, pitch) for axis in (0, 1))
    for centre in np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2):
        inside = bool(((centre > low + 12) & (centre < high - 12)).all())
        far = float(np.linalg.norm(np.maximum(np.maximum(low - centre, centre - high), 0.0)))
        missing = 0.12 if city else 0.55 + 0.4 * min(far / _OUTSKIRTS_M, 1.0)
        if far > _OUTSKIRTS_M or rng.random() < missing:
            continue
        kind = ("block", "tower", "shop")[int(rng.choice(3, p=[0.62, 0.2, 0.18]))] if city else "house"
        length, depth = (rng.uniform(20, 34), rng.uniform(16, 24)) if city else (rng.uniform(10, 15), 9.0)
        yaw = float(rng.integers(4)) * 90.0
        spot = centre + rng.uniform(-3, 3, 2)
        footprint = Footprint(float(length), float(depth), detail=False)
        if not inside and not works.site.open_to(spot[None])[0]:
            continue
        if not inside:
            mesh = KINDS[kind](footprint, rng)
            foot = float(land.far_height_at(spot))
            works.stock.add_mesh("Building", "building", mesh, (float(spot[0]), float(spot[1]), foot, yaw))
        elif land.clear_at(spot) > _BACK_M:
            _stand(works, kind, spot, yaw, footprint)
