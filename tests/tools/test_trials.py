"""The list of trials, and the measurements of ``town-traffic`` on paper."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tools.common import ROOT
from tools.trials.__main__ import summaries
from tools.trials.town_traffic import lateral_mps2, overlapping

TRIALS = summaries()


@pytest.mark.parametrize("name", TRIALS)
def test_trial_names_itself_and_has_a_main(name: str) -> None:
    text = (ROOT / "tools/trials" / f"{name.replace('-', '_')}.py").read_text()
    assert f"scripts/trial {name}" in text
    assert re.search(r"^def main\(", text, re.MULTILINE)


def test_unknown_trial_suggests_the_nearest(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / "scripts/trial", "kil"], cwd=tmp_path, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (1, "error: no trial kil; did you mean kill?\n")


def test_circle_of_20_m_at_10_mps_has_5_mps2():
    turned = np.arange(40) * 0.05 * 10 / 20
    circle = np.stack([20 * np.cos(turned), 20 * np.sin(turned)], axis=-1)[:, None]

    lateral = lateral_mps2(circle, step_s=0.05)

    np.testing.assert_allclose(lateral[2:-2, 0], 5.0, rtol=0.01)
    assert np.isnan(lateral[[0, 1, -2, -1]]).all()


def test_braking_on_a_straight_line_has_no_lateral_acceleration():
    seconds = np.arange(40) * 0.05
    metres = 20 * seconds - 4 * seconds**2
    line = np.stack([metres * 0.6, metres * 0.8], axis=-1)[:, None]

    assert np.nanmax(lateral_mps2(line, step_s=0.05)) < 1e-6


def test_standing_and_removed_cars_have_no_lateral_acceleration():
    places = np.zeros((40, 2, 2))
    places[:, 0, 0] = np.arange(40) * 0.02  # 0.4 m/s
    places[:, 1] = np.nan

    assert np.isnan(lateral_mps2(places, step_s=0.05)).all()
    assert np.isnan(lateral_mps2(places[:3], step_s=0.05)).all()


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
def test_two_cars_overlap(other: tuple[float, float, float], yaw_deg: float, touch: bool) -> None:
    places, half = np.array([(0.0, 0.0, 0.0), other]), np.array([CAR, CAR])
    pairs = overlapping(places, np.radians([0.0, yaw_deg]), half)
    assert pairs.tolist() == ([[0, 1]] if touch else [])


def test_overlaps_agree_with_points_inside_boxes() -> None:
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
