"""What the soak counts: boxes that overlap, by cases worked out on paper."""

import numpy as np
import pytest

from tools.trials.town_traffic import overlapping

CAR = np.array([2.0, 1.0, 0.75])


@pytest.mark.parametrize(
    ("other", "yaw_deg", "touch"),
    [
        ((3.9, 0.0, 0.0), 0.0, True),  # 4 m long each: noses 10 cm into tails
        ((4.1, 0.0, 0.0), 0.0, False),
        ((0.0, 1.9, 0.0), 0.0, True),
        ((0.0, 2.1, 0.0), 0.0, False),
        ((2.9, 0.0, 0.0), 90.0, True),  # turned across: 2 m + 1 m
        ((3.1, 0.0, 0.0), 90.0, False),
        ((3.5, 2.4, 0.0), 45.0, False),  # 4.17 m along the other one's nose, 2 m + 2.12 m would touch
        ((0.0, 0.0, 1.6), 0.0, False),  # on a bridge above
        ((np.nan, 0.0, 0.0), 0.0, False),
    ],
)
def test_two_cars(other: tuple[float, float, float], yaw_deg: float, touch: bool) -> None:
    places, half = np.array([(0.0, 0.0, 0.0), other]), np.array([CAR, CAR])
    pairs = overlapping(places, np.radians([0.0, yaw_deg]), half)
    assert pairs.tolist() == ([[0, 1]] if touch else [])


def test_many_boxes_agree_with_points_inside_them() -> None:
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(0, 40, (60, 2)), np.zeros(60)])
    yaws, half = rng.uniform(-3, 3, 60), np.tile(CAR, (60, 1))
    found = {tuple(pair) for pair in overlapping(places, yaws, half).tolist()}
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 41), np.linspace(-1, 1, 21)), -1).reshape(-1, 2)
    for one in range(60):
        c, s = np.cos(yaws[one]), np.sin(yaws[one])
        points = grid @ np.array([[c, s], [-s, c]]) + places[one, :2]
        for other in range(one + 1, 60):
            c, s = np.cos(yaws[other]), np.sin(yaws[other])
            inside = np.abs((points - places[other, :2]) @ np.array([[c, -s], [s, c]])) < CAR[:2]
            if inside.all(axis=1).any():
                assert (one, other) in found
