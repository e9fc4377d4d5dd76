"""Steps of shading, against their plain definitions."""

import numpy as np
from headless_simulator.render.lanes import LANES, SUN, X, Y, Z, find_texels, sunlit

COLUMNS, ROWS = 9, 7


def plain_share(heights: np.ndarray, u: float, v: float, level: int) -> float:
    """The share of light at a place between the middles of four texels, each of which is lit or dark."""
    i, j = int(u), int(v)
    lit = heights[j : j + 2, i : i + 2] <= level
    fu, fv = u - i, v - j
    return float(np.array([1 - fv, fv]) @ lit @ np.array([1 - fu, fu]))


def test_sunlight_is_blended_from_the_four_texels_around_where_a_pixels_ray_meets_the_ground() -> None:
    rng = np.random.default_rng(5)
    heights = rng.integers(0, 9, (ROWS, COLUMNS)).astype(np.uint16)
    width = 400
    lane = np.zeros((LANES, width), np.float32)
    lane[X], lane[Y] = rng.integers(-16, 100, (2, width)) / 8  # eighths: no sum rounds; some are off the map
    lane[Z] = rng.integers(0, 9, width)
    shear_x, shear_y, from_u, from_v, per_m, lowest, steps = 0.5, -0.25, 0.75, -0.5, 1.0, -1.0, 1.0
    shadow = np.array([shear_x, shear_y, from_u, from_v, per_m, COLUMNS, ROWS, lowest, steps, 0], np.float32)
    texel = np.zeros(width, np.int32)
    find_texels(shadow, lane, texel)
    first, last, bias = 3, width - 2, 0.5
    sunlit(heights.ravel(), shadow, lane, texel, np.uint64(first), np.uint64(last), np.float32(bias))
    x, y, z = lane[X].astype(float), lane[Y].astype(float), lane[Z].astype(float)
    u = np.clip((x - z * shear_x - from_u) * per_m - 0.5, 0, COLUMNS - 2)
    v = np.clip((y - z * shear_y - from_v) * per_m - 0.5, 0, ROWS - 2)
    level = ((z - (lowest - bias)) * steps).astype(int)
    expected = [plain_share(heights, u[i], v[i], level[i]) for i in range(first, last)]
    np.testing.assert_allclose(lane[SUN, first:last], expected, atol=1e-6)
    assert {0.0, 1.0} < set(expected)
    assert not lane[SUN, :first].any()
    assert not lane[SUN, last:].any()
