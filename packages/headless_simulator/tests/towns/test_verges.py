"""Pedestrians of a file without sidewalks walk on shoulders and verges."""

import numpy as np
from headless_simulator.towns.assemble import assemble
from headless_simulator.towns.styles import RURAL
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road

_LANE = '<lane id="-1" type="driving"><width sOffset="0" a="3.5"/></lane>'


def walks(**more):
    data = document(road(**more))
    return assemble("Odd", data.decode(), read_network(data, "odd.xodr"), RURAL, 0).walk_polygons


def across(polygons, area):
    """Least and greatest y of the polygons of an area; the road runs along x, its only lane from y 0 to 3.5."""
    points = np.array([corner for corners, kind in polygons if kind == area for corner in corners])
    return points[:, 1].min(), points[:, 1].max()


def test_wide_shoulder_is_walkable():
    polygons = walks(right=_LANE + '<lane id="-2" type="shoulder"><width sOffset="0" a="1.5"/></lane>')

    np.testing.assert_allclose(across(polygons, "sidewalk"), (3.5, 5.0), atol=1e-3)


def test_beside_a_narrow_shoulder_is_a_verge():
    polygons = walks(right=_LANE + '<lane id="-2" type="shoulder"><width sOffset="0" a="0.5"/></lane>')

    np.testing.assert_allclose(across(polygons, "sidewalk"), (4.0, 5.6), atol=1e-3)


def test_both_sides_of_a_road_are_joined_at_its_ends():
    polygons = walks(right=_LANE, left=_LANE.replace("-1", "1"))

    assert sum(area == "crosswalk" for _, area in polygons) == 2
    np.testing.assert_allclose(across(polygons, "crosswalk"), (-3.5, 3.5), atol=1e-3)


def test_sidewalk_replaces_verges():
    walk = '<lane id="-2" type="sidewalk"><width sOffset="0" a="2"/></lane>'
    polygons = walks(right=_LANE + walk, left=_LANE.replace("-1", "1"))

    np.testing.assert_allclose(across(polygons, "sidewalk"), (3.5, 5.5), atol=1e-3)
