"""Lateral accelerations of drives worked out on paper."""

import numpy as np

from tools.trials.town_traffic import lateral_mps2


def test_a_circle_of_20_m_at_10_mps_pulls_with_5():
    turned = np.arange(40) * 0.05 * 10 / 20
    circle = np.stack([20 * np.cos(turned), 20 * np.sin(turned)], axis=-1)[:, None]

    lateral = lateral_mps2(circle, step_s=0.05)

    np.testing.assert_allclose(lateral[2:-2, 0], 5.0, rtol=0.01)
    assert np.isnan(lateral[[0, 1, -2, -1]]).all()


def test_a_straight_line_does_not_pull_however_hard_it_brakes():
    seconds = np.arange(40) * 0.05
    metres = 20 * seconds - 4 * seconds**2
    line = np.stack([metres * 0.6, metres * 0.8], axis=-1)[:, None]

    assert np.nanmax(lateral_mps2(line, step_s=0.05)) < 1e-6


def test_cars_that_stand_or_are_gone_have_none():
    places = np.zeros((40, 2, 2))
    places[:, 0, 0] = np.arange(40) * 0.02  # 0.4 m/s
    places[:, 1] = np.nan

    assert np.isnan(lateral_mps2(places, step_s=0.05)).all()
    assert np.isnan(lateral_mps2(places[:3], step_s=0.05)).all()
