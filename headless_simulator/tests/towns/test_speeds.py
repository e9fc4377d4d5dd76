"""Limits of bends: worked out on paper, and held in every town."""

import math

import numpy as np
import pytest
from headless_simulator.towns.lanes_index import Lanes, speed_limits
from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.paths import Path, Pose
from headless_simulator.towns.speeds import limits_along
from headless_simulator.towns.strips import lane_strips, limit_at
from headless_simulator.towns.xodr_reader import read_network

START = Pose(0.0, 0.0, 0.0)


def test_a_straight_road_has_one_limit():
    assert limits_along(Path(START, ((80.0, 0.0),)), 70.0) == ((0.0, 70.0),)


def test_a_bend_is_slow_from_25_m_before_it_to_25_m_after_it():
    # sqrt(4 m/s2 * 45 m) = 13.4 m/s = 48 km/h, signed as 50
    path = Path(START, ((100.0, 0.0), (70.0, 1 / 45.0), (100.0, 0.0)))

    assert limits_along(path, 70.0) == ((0.0, 70.0), (75.0, 50.0), (195.0, 70.0))


def test_the_lowest_limit_holds_where_bends_are_near_each_other():
    path = Path(START, ((10.0, 0.0), (30.0, -1 / 20.0), (30.0, 0.0), (70.0, 1 / 45.0), (90.0, 0.0)))

    assert limits_along(path, 70.0) == ((0.0, 30.0), (65.0, 50.0), (165.0, 70.0))


def test_a_road_slower_than_its_bend_keeps_its_limit():
    assert limits_along(Path(START, ((30.0, 1 / 20.0),)), 20.0) == ((0.0, 20.0),)


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_limit_asks_for_more_than_5_mps2_across(name):
    """At 6 m/s2 and more, the Traffic Manager's cars leave the middle of their lane by over 0.6 m."""
    network = read_network(LAYOUTS[name].plan().opendrive().encode(), name)
    arcs = [
        (road, piece) for road in network.roads.values() if not road.junction for piece in road.plan if piece.values
    ]
    assert arcs
    for road, piece in arcs:
        for s in np.arange(piece.s, piece.s + piece.length_m, 5.0).tolist():
            assert (limit_at(road, s, 50.0) / 3.6) ** 2 * abs(piece.values[0]) < 5.0, (road.number, s)


def test_cars_meet_the_limit_of_the_bend_they_are_in():
    name = "Town06"
    network = read_network(LAYOUTS[name].plan().opendrive().encode(), name)

    limits = speed_limits(Lanes(network, lane_strips(network)))

    corner = np.hypot(limits[:, 0] + 364.0, limits[:, 1] - 406.5) < 45.0  # the south-west corner, simulator axes
    assert corner.any()
    assert limits[corner, 2].max() <= 60.0
    assert math.isclose(limits[:, 2].max(), 80.0)
