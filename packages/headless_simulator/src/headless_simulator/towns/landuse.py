"""Colours of the open land: paved blocks, lawns, fields."""

from typing import Final

import numpy as np

from headless_simulator.scene import Float64, UInt8
from headless_simulator.towns.arrays import Bools, Ints
from headless_simulator.towns.ground import Land
from headless_simulator.towns.styles import GRASS, PAVING, Style
from headless_simulator.towns.triangle_soup import RGB
from headless_simulator.towns.water import BANK_RGB, River

_FIELDS: Final[tuple[RGB, ...]] = (
    (118, 132, 66),
    (150, 140, 84),
    (98, 122, 58),
    (166, 150, 98),
    (112, 94, 66),
    (84, 112, 56),
    (134, 138, 76),
)
_FIELD_M: Final = 80.0
_CELL_REACH_M: Final = 5.0  # from the centre of a terrain cell to its corner: avoids jagged park edges at kerbs
_MEADOW: Final[RGB] = (112, 120, 68)
_WAVES_M: Final = ((170.0, 0.4), (91.0, 1.3), (47.0, 2.9), (29.0, 4.2))  # lengths and directions of noise


def terrain_colours(land: Land, style: Style, rng: np.random.Generator) -> UInt8:
    """Return the (N, 3) uint8 sRGB colour of every terrain triangle."""
    middle = land.terrain.mean(axis=1)[:, :2].reshape(-1, 2, 2).mean(axis=1)  # of each cell's two triangles
    if style.land == "fields":
        base = _patchwork(middle, np.asarray(_FIELDS), _FIELD_M)
    elif style.land == "paved":
        base = _blended(middle, PAVING, (128, 125, 118))
    else:
        base = _blended(middle, GRASS, _MEADOW)
    for x, y, radius in style.parks_m:
        base[np.hypot(middle[:, 0] - x, middle[:, 1] - y) < radius + _CELL_REACH_M] = GRASS
    away = River.through(style.river_m).away_m(middle)
    base[(away < 8.0) & (np.hypot(middle[:, 0], middle[:, 1]) < 4000.0)] = BANK_RGB
    shift = rng.integers(-4, 5, size=(len(base), 1))
    colours: UInt8 = np.clip(base + shift, 0, 255).astype(np.uint8)
    return np.repeat(colours, 2, axis=0)


def in_parks(middle_m: Float64, style: Style) -> Bools:
    """Return (N,) whether (N, 2) points are in a park."""
    near = np.zeros(len(middle_m), dtype=np.bool_)
    for x, y, radius in style.parks_m:
        near |= np.hypot(middle_m[:, 0] - x, middle_m[:, 1] - y) < radius
    return near


def _blended(middle: Float64, one: RGB, other: RGB) -> Ints:
    """Return (N, 3) colours of a smooth mixture of two colours."""
    waves = [np.sin(middle @ np.array([np.cos(turn), np.sin(turn)]) * 2 * np.pi / long) for long, turn in _WAVES_M]
    share = np.clip(0.5 + 0.22 * np.sum(waves, axis=0), 0.0, 1.0)[:, None]
    mixed: Ints = np.rint(np.asarray(one) + share * (np.asarray(other) - np.asarray(one))).astype(np.int64)
    return mixed


def _patchwork(middle: Float64, colours: Ints, size_m: float) -> Ints:
    """Return (N, 3) colours by oblong patches aligned with terrain cells."""
    cell = np.floor(middle / (size_m, size_m * 1.5)).astype(np.int64)
    cell[:, 0] = np.floor((middle[:, 0] + (cell[:, 1] % 2) * 40.0) / size_m)
    mix = (cell[:, 0] * 73856093) ^ (cell[:, 1] * 19349663)
    chosen: Ints = colours[(mix >> 3) % len(colours)]
    return chosen
