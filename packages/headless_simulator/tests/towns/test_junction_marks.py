"""Arrows before junctions and lane lines through them."""

import numpy as np
import pytest
from headless_simulator.scene import TAG
from headless_simulator.towns.junction_marks import paint_junction_marks
from headless_simulator.towns.lanes_index import Lanes
from headless_simulator.towns.triangle_soup import TriangleSoup

from tests.towns.sample import network_of, strips_of


def painted(name):
    lanes = Lanes(network_of(name), strips_of(name))
    soup = TriangleSoup()
    paint_junction_marks(soup, lanes)
    return lanes, soup


@pytest.fixture(scope="module")
def down_town():
    return painted("Town10HD")


def test_paint_lies_on_lanes_and_is_road_line(down_town):
    lanes, soup = down_town
    middles = np.concatenate([corners.mean(axis=1) for corners in soup.corners])
    lines = np.concatenate(
        [np.concatenate([strip.inner_m, strip.centre_m, strip.outer_m]) for strip in lanes.driving()]
    )

    assert len(middles) > 200
    assert all((tags == TAG["road_line"]).all() for tags in soup.tags)
    np.testing.assert_allclose(middles[:, 2], 0.015, atol=0.01)  # level town: a little over the road
    low, high = lines[:, :2].min(axis=0), lines[:, :2].max(axis=0)
    assert ((middles[:, :2] > low) & (middles[:, :2] < high)).all()


def test_a_road_of_one_lane_each_way_has_no_paint_at_junctions():
    _, soup = painted("Town02")

    assert soup.corners == []
