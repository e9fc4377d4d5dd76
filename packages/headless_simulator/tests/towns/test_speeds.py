"""Speed limits of bends: hand-computed values, and limits of every town."""

import math

import numpy as np
import pytest
from headless_simulator.towns.lanes_index import Lanes, speed_limits
from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.paths import Path, Pose
from headless_simulator.towns.speeds import limit_through, limits_along
from headless_simulator.towns.strips import limit_at

from tests.towns.sample import network_of, strips_of

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


def test_a_way_through_a_junction_has_the_limit_of_its_narrowest_bend():
    # sqrt(4 m/s2 * 12.5 m) = 7.07 m/s = 25.5 km/h, and of 8 m 20.4 km/h: signed in steps of 5 km/h, rounded down
    assert limit_through(Path(START, ((4.0, 0.0), (19.0, 1 / 12.5), (2.0, 0.0))), 60.0) == 25.0
    assert limit_through(Path(START, ((9.0, 1 / 12.5), (9.0, -1 / 8.0))), 60.0) == 20.0


def test_a_straight_or_wide_way_through_a_junction_keeps_its_limit():
    assert limit_through(Path(START, ((30.0, 0.0),)), 60.0) == 60.0
    assert limit_through(Path(START, ((30.0, 1 / 200.0),)), 60.0) == 60.0


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_limit_asks_for_more_than_5_mps2_across(name):
    """At 6 m/s2 and more, the Traffic Manager's cars leave the middle of their lane by over 0.6 m."""
    network = network_of(name)
    driven = {strip.road for strip in strips_of(name) if strip.kind == "driving"}
    arcs = [(network.roads[number], piece) for number in driven for piece in network.roads[number].plan if piece.values]
    assert {bool(road.junction) for road, _ in arcs} == {True, False}
    for road, piece in arcs:
        for s in np.arange(piece.s, piece.s + piece.length_m, 5.0).tolist():
            assert (limit_at(road, s, 50.0) / 3.6) ** 2 * abs(piece.values[0]) < 5.0, (road.number, s)


def test_cars_meet_the_limit_of_the_bend_they_are_in():
    name = "Town06"
    limits = speed_limits(Lanes(network_of(name), strips_of(name)))

    corner = np.hypot(limits[:, 0] + 364.0, limits[:, 1] - 406.5) < 45.0  # the south-west corner, simulator axes
    assert corner.any()
    assert limits[corner, 2].max() <= 60.0
    assert math.isclose(limits[:, 2].max(), 80.0)


def test_cars_slow_down_before_a_turn():
    """Where a street ends at a junction, the lowest limit of the ways on holds."""
    strips = strips_of("Town07")
    limits = speed_limits(Lanes(network_of("Town07"), strips))
    turns = [strip for strip in strips if strip.junction and strip.kind == "driving" and strip.limit_kmh <= 25.0]

    assert len(turns) > 30
    for turn in turns:
        apart = np.hypot(*(limits[:, :2] - turn.centre_m[0, :2]).T)
        assert limits[apart < 0.4, 2].max() <= turn.limit_kmh, turn.road
