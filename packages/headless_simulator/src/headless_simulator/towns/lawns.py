"""Lawns with trees on free paved blocks of a city."""

from itertools import pairwise
from typing import Final

import numpy as np

from headless_simulator.scene import MATTE, TAG, Float64
from headless_simulator.towns.placement import Works
from headless_simulator.towns.styles import GRASS
from headless_simulator.towns.triangle_soup import RGB, Appearance, jitter
from headless_simulator.towns.vegetation import plant

_SIZES_M: Final = ((30.0, 18.0), (18.0, 30.0), (20.0, 12.0), (12.0, 20.0), (10.0, 10.0), (6.0, 12.0), (12.0, 6.0))
_APART_M: Final = 1.2  # from buildings and from each other
_FROM_ROADS_M: Final = 3.0
_LEVEL_M: Final = 0.25  # largest height difference under a lawn
_OVER_M: Final = 0.08
_KERB_M: Final = 0.3
_KERB_RGB: Final[RGB] = (168, 164, 156)
_TREES_PER_M2: Final = 0.009


def lay_lawns(works: Works, per_ha: float) -> None:
    """Add lawns with kerb and trees: ``per_ha`` attempts per hectare, large lawns first."""
    site, rng = works.site, works.rng
    low, high = site.land.rim
    tries = int(float(np.prod(high - low)) / 1e4 * per_ha)
    trees = [np.empty((0, 3))]
    for size in _SIZES_M:
        for centre in rng.uniform(low, high, size=(tries, 2)):
            reach = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * np.asarray(size) / 2
            corners = centre + reach
            probes = np.concatenate([corners, centre + reach * (1, 0), centre + reach * (0, 1)])
            if not (site.free(probes, _FROM_ROADS_M)).all() or np.ptp(site.land.height_at(probes)) > _LEVEL_M:
                continue
            if site.place_rectangle(centre, 0.0, size, gap_m=_APART_M):
                z = float(site.land.height_at(probes).max()) + _OVER_M
                _paint(works, corners, z)
                count = int(rng.poisson(size[0] * size[1] * _TREES_PER_M2))
                spots = centre + rng.uniform(-0.5, 0.5, size=(count, 2)) * (np.asarray(size) - 4.0)
                trees.append(np.c_[spots, np.full(count, z)])
    plant(works.stock, np.concatenate(trees), rng, conifers=0.1, size=0.9)


def _paint(works: Works, corners: Float64, z: float) -> None:
    """Add a kerb with sides into the ground, and the grass inside it."""
    triangle_soup, inner = works.stock.triangle_soup, corners.copy()
    inner += np.sign(corners.mean(axis=0) - corners) * _KERB_M
    rims = [np.c_[rim, np.full(4, height)] for rim, height in ((corners, z - 0.4), (corners, z), (inner, z))]
    kerb = Appearance(_KERB_RGB, TAG["sidewalk"], MATTE)
    for outside, inside in pairwise(rims):
        triangle_soup.ribbon(np.r_[outside, outside[:1]], np.r_[inside, inside[:1]], kerb)
    grass = Appearance(jitter(GRASS, 1, 8, works.rng), TAG["terrain"], MATTE)
    triangle_soup.quads(rims[-1][None], grass)
