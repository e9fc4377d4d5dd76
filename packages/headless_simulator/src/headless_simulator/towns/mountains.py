"""Wooded mountains around a town, beyond the detailed land."""

from typing import Final

import numpy as np

from headless_simulator.scene import MATTE, TAG, Float64, UInt8
from headless_simulator.towns.ground import Land
from headless_simulator.towns.triangle_soup import RGB, Appearance, TriangleSoup

_AWAY_M: Final = (0.0, 60.0, 170.0, 290.0, 420.0, 570.0, 740.0, 940.0, 1180.0, 1500.0)  # from the detailed land's rim
_SHARE: Final = (0.0, 0.05, 0.16, 0.31, 0.48, 0.66, 0.84, 1.0, 0.85, 0.0)  # of the height there
_ROUND: Final = 192  # points of each ring
_WAVES: Final = ((2, 0.2), (3, 0.22), (7, 0.16), (13, 0.12), (29, 0.07))  # frequency around the town, and amplitude
_ROUGH: Final = 0.07
_UNDER_M: Final = 0.8
_WOOD: Final[RGB] = (58, 78, 48)
_CLEARING: Final[RGB] = (72, 90, 54)
_ROCK: Final[RGB] = (122, 116, 106)
_TREE_LINE: Final = 0.8  # of the height
_STEEP: Final = 0.62


def paint_mountains(triangle_soup: TriangleSoup, land: Land, height_m: float, rng: np.random.Generator) -> None:
    """Add mountains of about ``height_m``, from the edge of the detailed land outward."""
    rings = _rings(land, height_m, rng)
    inner, outer = rings[:-1], rings[1:]
    quads = np.stack([inner[:, :-1], outer[:, :-1], outer[:, 1:], inner[:, 1:]], axis=2).reshape(-1, 4, 3)
    foot = float(np.median(rings[0, :, 2]))
    colours = _colours(quads, foot, height_m, rng)
    triangle_soup.quads(quads, Appearance(colours, TAG["terrain"], MATTE))


def _rings(land: Land, height_m: float, rng: np.random.Generator) -> Float64:
    """Return (rings, _ROUND + 1, 3) points around the town; each ring's last point equals its first."""
    low = np.asarray(land.wide.low_m, dtype=np.float64)
    high = low + land.wide.cell_m * (np.array(land.wide.shape[::-1]) - 1)
    turn = np.linspace(0.0, 2 * np.pi, _ROUND + 1)
    ahead = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    square = ahead / np.abs(ahead).max(axis=1, keepdims=True)
    edge = (low + high) / 2 + square * (high - low) / 2
    crest = 0.62 + sum(share * np.sin(often * turn + rng.uniform(0, 2 * np.pi)) for often, share in _WAVES)
    level = float(np.median(np.concatenate([land.field_m[0], land.field_m[-1]]))) - _UNDER_M
    rings = np.empty((len(_AWAY_M), _ROUND + 1, 3))
    for ring, away, share in zip(rings, _AWAY_M, _SHARE, strict=True):
        rough = rng.uniform(-_ROUGH, _ROUGH, _ROUND + 1)
        rough[-1] = rough[0]
        ring[:, :2] = edge + ahead * away
        ring[:, 2] = level + height_m * share * np.clip(crest + rough, 0.12, None)
    rings[0, :, 2] = (
        land.far_height_at(edge) - _UNDER_M
    )  # joins the detailed land, also where that lies below the plain
    return rings


def _colours(quads: Float64, foot_m: float, height_m: float, rng: np.random.Generator) -> UInt8:
    """Return (N, 3) colours: woods with clearings, rock on high and steep parts."""
    high = (quads[:, :, 2].mean(axis=1) - foot_m) / height_m
    across = np.linalg.norm(np.ptp(quads[:, :, :2], axis=1), axis=1)
    steep = np.ptp(quads[:, :, 2], axis=1) / np.maximum(across, 1.0)
    colours = np.tile(np.asarray(_WOOD), (len(quads), 1))
    colours[rng.random(len(quads)) < 0.14] = _CLEARING
    colours[(high > _TREE_LINE) & (steep > 0.3) | (steep > _STEEP)] = _ROCK
    shaded: UInt8 = np.clip(colours + rng.integers(-7, 8, size=(len(quads), 1)), 0, 255).astype(np.uint8)
    return shaded
