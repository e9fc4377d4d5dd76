"""Ground of both roads at bridges."""

import numpy as np
from headless_simulator.towns.assemble import assemble
from headless_simulator.towns.styles import RURAL
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road

_UP = '<elevationProfile><elevation s="0" a="{}" b="0" c="0" d="0"/></elevationProfile>'
_ACROSS = '<geometry s="0" x="50" y="-50" hdg="1.5707963267948966" length="100"><line/></geometry>'


def ground_of(up_m):
    data = document(road(before_lanes=_UP.format(up_m)), road(number="2", plan=_ACROSS))
    return assemble("Odd", data.decode(), read_network(data, "odd.xodr"), RURAL, 0).ground


def at(ground, field, x, y):
    column, row = np.rint((np.array([x, y]) - ground.origin_m) / ground.cell_m).astype(int)
    return field[row, column]


def test_a_bridge_carries_its_road_over_the_one_below():
    ground = ground_of(8.0)

    assert (at(ground, ground.height_m, 52, 2), at(ground, ground.under_m, 52, 2)) == (8.0, 0.0)
    assert at(ground, ground.under_m, 56, 2) == 0.0  # beside the lower lane, still under the bridge
    assert np.isnan(at(ground, ground.under_m, 20, 2))
    assert np.isnan(at(ground, ground.under_m, 52, 20))


def test_roads_that_cross_at_one_height_have_one_ground():
    assert ground_of(0.0).under_m.size == 0
