import numpy as np
import pytest

from uavsim.ingredients.intruders import approach

TIME_S = np.arange(11.0)
STANDING = np.zeros((11, 3))


def test_a_crossing_on_paper() -> None:
    other = np.column_stack([np.full(11, 30.0), 40.0 - 10.0 * TIME_S, np.zeros(11)])  # along y, 30 m ahead

    nearest = approach.closest_approach(TIME_S, STANDING, other)

    assert (nearest.distance_m, nearest.time_s) == pytest.approx((30.0, 4.0))
    assert approach.range_m(STANDING, other)[0] == pytest.approx(50.0)
    assert approach.closing_mps(TIME_S[:3] / 1000, STANDING[:3], other[:1] - [[0, 0, 0], [0, 0.01, 0], [0, 0.02, 0]])[
        0
    ] == pytest.approx(8.0, rel=1e-4)  # 10 m/s at an angle with cosine 40/50


def test_the_closest_approach_lies_between_samples() -> None:
    other = np.column_stack([np.full(11, 3.0), 25.0 - 10.0 * TIME_S, np.zeros(11)])

    assert approach.closest_approach(TIME_S, STANDING, other) == approach.Approach(3.0, 2.5)


def test_of_two_that_stay_apart_the_first_moment_counts() -> None:
    assert approach.closest_approach(TIME_S, STANDING, STANDING + [0, 7.0, 0]) == approach.Approach(7.0, 0.0)
    assert approach.closest_approach(TIME_S[:1], STANDING[:1], STANDING[:1] + 1.0).distance_m == pytest.approx(3**0.5)


def test_azimuth_is_to_the_right_and_elevation_upwards() -> None:
    right_and_up = np.array([1.0, -1.0, 2**0.5])  # left is positive y

    assert approach.bearing_deg(right_and_up) == pytest.approx([45.0, 45.0])
    assert approach.direction_flu(azimuth_deg=45, elevation_deg=45) == pytest.approx(right_and_up / 2.0)
