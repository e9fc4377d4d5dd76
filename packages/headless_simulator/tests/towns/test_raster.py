"""Rasterisation of triangles, against a test of every grid point."""

import numpy as np
from headless_simulator.towns.raster import Grid, bilinear, draw
from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_every_point_under_every_triangle(seed):
    rng = np.random.default_rng(seed)
    grid = Grid((-3.0, 2.0), 0.5, (40, 50))
    corner = rng.uniform((-6, -1, 0), (25, 24, 5), size=(6, 1, 3))
    triangles = corner + rng.uniform(-1, 1, size=(6, 3, 3)) * rng.choice([0.3, 2.0, 12.0], size=(6, 1, 1))
    x, y = grid.axes_m()
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)

    pixel, height, owner = draw(grid, triangles)

    for number, (a, b, c) in enumerate(triangles):
        got = np.full(len(points), np.nan)
        got[pixel[owner == number]] = height[owner == number]
        sides = np.stack([turn(s[:2], t[:2], points) for s, t in ((a, b), (b, c), (c, a))])
        clear = np.abs(sides).min(axis=0) > 1e-4  # on an edge either answer will do
        inside = (sides.min(axis=0) > 0) | (sides.max(axis=0) < 0)
        np.testing.assert_array_equal(np.isfinite(got)[clear], inside[clear])
        normal = np.cross(b - a, c - a)
        if abs(normal[2]) > 1e-2:
            plane = a[2] - (points - a[:2]) @ normal[:2] / normal[2]
            np.testing.assert_allclose(got[clear & inside], plane[clear & inside], atol=1e-6)


def turn(start, end, points):
    """Return the side of a line for (N, 2) points, as a sign."""
    return (end[0] - start[0]) * (points[:, 1] - start[1]) - (end[1] - start[1]) * (points[:, 0] - start[0])


def test_bilinear_is_exact_on_a_plane_and_clips():
    grid = Grid((0.0, 0.0), 2.0, (5, 6))
    x, y = grid.axes_m()
    field = 3 + 0.5 * x[None, :] - 0.25 * y[:, None]

    np.testing.assert_allclose(bilinear(grid, field, np.array([[3.3, 5.1]])), 3 + 1.65 - 1.275)
    np.testing.assert_allclose(bilinear(grid, field, np.array([[-9.0, 0.0]])), 3.0)
