"""Snow and leaves on surfaces and in the air."""

import numpy as np
import pytest
from headless_simulator.airsim.precipitation import LEAF_BGR, SNOW_BGR, overlay
from headless_simulator.scene import TAG, RenderedImage

SIZE = (90, 160)
GREY = np.full((*SIZE, 3), 90, np.uint8)


def looking_at(name):
    flat = np.zeros(SIZE, np.float32)
    return RenderedImage(
        bgra=None, depth_m=flat, tag=np.full(SIZE, TAG[name], np.uint8), ids=flat.astype(np.uint32), normal=None
    )


def test_no_weather_changes_nothing():
    np.testing.assert_array_equal(overlay(GREY, looking_at("road"), {}), GREY)
    np.testing.assert_array_equal(overlay(GREY, looking_at("road"), {"snow": 0.0, "road_leaf": 0.0}), GREY)


@pytest.mark.parametrize(
    ("kind", "where", "elsewhere"), [("road_snow", "terrain", "building"), ("road_leaf", "road", "terrain")]
)
def test_snow_and_leaves_lie_on_their_surfaces_only(kind, where, elsewhere):
    assert (overlay(GREY, looking_at(where), {kind: 1.0}) != GREY).any(axis=2).mean() > 0.9
    np.testing.assert_array_equal(overlay(GREY, looking_at(elsewhere), {kind: 1.0}), GREY)


@pytest.mark.parametrize(("kind", "colour"), [("snow", SNOW_BGR), ("leaf", LEAF_BGR)])
def test_flakes_cover_three_percent_at_full_strength(kind, colour):
    flakes = (overlay(GREY, looking_at("sky"), {kind: 1.0}) == colour.astype(np.uint8)).all(axis=2)
    assert flakes.mean() == pytest.approx(0.03, abs=0.006)
    fewer = (overlay(GREY, looking_at("sky"), {kind: 0.2}) == colour.astype(np.uint8)).all(axis=2)
    assert (flakes | ~fewer).all()  # the same flakes, fewer of them
    assert 0 < fewer.sum() < flakes.sum()


def test_more_snow_on_the_road_is_whiter():
    means = [overlay(GREY, looking_at("road"), {"road_snow": amount}).mean() for amount in (0.2, 0.5, 1.0)]
    assert means == sorted(means)
    assert means[-1] > 200
