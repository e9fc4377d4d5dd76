"""Splines through knots are SciPy's, to the last bit."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator

from uavsim.plan.splines import monotone, smooth


@pytest.mark.parametrize("seed", range(40))
def test_values_and_slopes_are_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 30))
    step = rng.uniform(0.1, 1.0, count - 1) * 10 ** rng.uniform(-1, 3, count - 1)  # rows of equations change places
    knots = np.concatenate([[0.0], np.cumsum(step)])
    places = rng.normal(0.0, 100.0, (count, 2))
    heights = np.round(rng.normal(0.0, 2.0, (count, 5, 3)))  # with plateaus
    at = np.sort(np.concatenate([knots, rng.uniform(0.0, knots[-1], 200)]))

    for closed in (False, True):
        ends = places if not closed else np.concatenate([places[:-1], places[:1]])
        ours, scipys = (
            smooth(knots, ends, closed=closed),
            CubicSpline(knots, ends, bc_type="periodic" if closed else "natural"),
        )
        np.testing.assert_array_equal(ours(at), scipys(at))
        np.testing.assert_array_equal(ours(at, derivative=True), scipys(at, 1))
    np.testing.assert_array_equal(monotone(knots, heights)(at), PchipInterpolator(knots, heights)(at))


def test_a_level_path_at_minus_zero_is_at_zero() -> None:
    """SciPy's sums begin with zero, and plans are compared byte by byte."""
    knots, level = np.array([0.0, 1, 2]), np.full((3, 1), -0.0)

    assert not np.signbit(smooth(knots, level, closed=False)(knots)).any()
    assert not np.signbit(CubicSpline(knots, level, bc_type="natural")(knots)).any()


def test_a_triangle_is_flown_as_a_parabola_between_its_corners() -> None:
    path = smooth(np.array([0.0, 1.0, 2.0]), np.array([[0.0], [1.0], [0.0]]), closed=False)

    np.testing.assert_allclose(path(np.array([0.5]))[0], 11 / 16)  # 1.5 t - 0.5 t^3
