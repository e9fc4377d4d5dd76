"""A river's bed is free of embankments, buildings and trees."""

import numpy as np
import pytest
from headless_simulator.scene import TAG
from headless_simulator.towns import load_town
from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.water import River


@pytest.fixture(scope="module")
def town():
    return load_town("Town01")


@pytest.fixture(scope="module")
def river():
    return River.through(LAYOUTS["Town01"].style.river_m)


def test_a_town_without_a_river_has_dry_land_everywhere():
    assert np.isinf(River.through(()).away_m(np.zeros((3, 2)))).all()


def test_water_lies_under_the_streets_that_cross_it(town, river):
    corners = town.mesh.vertices_m[town.mesh.triangles]
    water, road = corners[town.mesh.tag == TAG["water"]], corners[town.mesh.tag == TAG["road"]]
    bridges = road[river.away_m(road[:, :, :2].mean(axis=1)) < 0.0]

    assert len(water) > 50
    assert len(bridges) > 10
    assert water[:, :, 2].max() < bridges[:, :, 2].min() - 1.0
    assert (town.mesh.tag == TAG["bridge"]).any()


def test_nothing_stands_in_the_water(town, river):
    solid = [item for item in town.objects if item.name.startswith(("Building", "Tree"))]
    assert len(solid) > 300

    feet = np.array([item.pose[:2] for item in solid])

    assert river.away_m(feet).min() > 0.0


def test_river_bed_is_below_the_water(town, river):
    corners = town.mesh.vertices_m[town.mesh.triangles]
    water = corners[town.mesh.tag == TAG["water"]][:, :, 2].mean()
    bed = corners[town.mesh.tag == TAG["terrain"]].reshape(-1, 3)
    bed = bed[(river.away_m(bed[:, :2]) < -4.0) & (np.abs(bed[:, :2]) < 500).all(axis=1)]

    assert len(bed) > 20
    assert bed[:, 2].max() < water
