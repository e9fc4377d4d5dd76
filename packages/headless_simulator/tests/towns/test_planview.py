"""Reference lines against hand-computed shapes."""

import numpy as np
from headless_simulator.towns.planview import Geometry, curvature_bounds, evaluate
from hypothesis import given
from hypothesis import strategies as st


def at(piece: Geometry, *ds: float):
    return piece.at(np.array(ds))


def test_line_follows_its_heading():
    x, y, heading = at(Geometry(0, 10, 20, np.pi / 2, 8, "line"), 0, 8)

    np.testing.assert_allclose(x, [10, 10], atol=1e-12)
    np.testing.assert_allclose(y, [20, 28])
    np.testing.assert_allclose(heading, np.pi / 2)


def test_a_quarter_circle_to_the_left():
    x, y, heading = at(Geometry(0, 0, 0, 0, 5 * np.pi, "arc", (0.1,)), 5 * np.pi)  # radius 10

    np.testing.assert_allclose([x[0], y[0], heading[0]], [10, 10, np.pi / 2])


def test_a_spiral_with_equal_curvatures_is_an_arc():
    spiral, arc = Geometry(0, 1, 2, 0.3, 20, "spiral", (0.05, 0.05)), Geometry(0, 1, 2, 0.3, 20, "arc", (0.05,))

    for actual, expected in zip(at(spiral, 0, 7, 20), at(arc, 0, 7, 20), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-9)


def test_a_spiral_follows_the_fresnel_integrals():
    # curvature s / 50**2 * 2 from 0: heading s^2 / 50^2; with u = s / 50, x = 50 * C(u), C(1) of cos(u^2) = 0.904524...
    x, y, heading = at(Geometry(0, 0, 0, 0, 50, "spiral", (0.0, 2 / 50)), 50)

    np.testing.assert_allclose([x[0] / 50, y[0] / 50, heading[0]], [0.9045242379, 0.3102683017, 1.0], atol=1e-9)


def test_poly3_rises_as_its_cubic():
    piece = Geometry(0, 0, 0, 0, 10, "poly3", (0, 0, 0.02, 0))

    x, y, heading = at(piece, 10)

    np.testing.assert_allclose(y, 0.02 * x**2)
    np.testing.assert_allclose(np.tan(heading), 0.04 * x)
    assert 9.7 < x[0] < 10  # ten metres of curve reach less far than ten metres of axis


def test_param_poly3_in_both_ranges_is_the_same_curve():
    by_length = Geometry(0, 0, 0, 0, 10, "paramPoly3", (0, 1, 0, 0, 0, 0, 0, 0, 10.0))
    normalised = Geometry(0, 0, 0, 0, 10, "paramPoly3", (0, 10, 0, 0, 0, 0, 0, 0, 1.0))

    for actual, expected in zip(at(by_length, 0, 4, 10), at(normalised, 0, 4, 10), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-9)
    np.testing.assert_allclose(at(by_length, 4)[0], [4])


def test_line_continues_straight_past_its_end():
    x, y, _ = evaluate((Geometry(0, 0, 0, 0, 10, "line"),), np.array([-2.0, 12.0]))

    np.testing.assert_allclose(x, [-2, 12])
    np.testing.assert_allclose(y, 0)


@given(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.floats(1, 60))
def test_distance_between_points_equals_their_stations(start, end, length):
    piece = Geometry(0, 5, -3, 1.0, length, "spiral", (start, end))
    s = np.linspace(0, length, 400)

    x, y, _ = piece.at(s)

    np.testing.assert_allclose(np.hypot(np.diff(x), np.diff(y)).sum(), length, rtol=1e-4)
    assert curvature_bounds(piece) == max(abs(start), abs(end))
