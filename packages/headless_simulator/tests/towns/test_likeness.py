"""Scenery around roads: lawns on paved blocks, mountains, parks with smooth edges."""

from dataclasses import replace

import numpy as np
from headless_simulator.scene import TAG
from headless_simulator.towns.assemble import assemble
from headless_simulator.towns.styles import GRASS, PAVING, URBAN
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road

PAVED = replace(URBAN, front={"shop": 1.0}, filled=0.0, outskirts="none", trees_per_ha=0.0, lawns_per_ha=0.0)
ROAD_Y_M = (-0.5, 4.0)  # the road runs along x from 0 to 100, its only lane from y 0 to 3.5


def built(style):
    data = document(road())
    return assemble("Odd", data.decode(), read_network(data, "odd.xodr"), style, 0)


def faces(town, tag):
    """(N, 3, 3) corners and (N, 3) colours of the faces with a tag."""
    chosen = town.mesh.tag == TAG[tag]
    return town.mesh.vertices_m[town.mesh.triangles][chosen], town.mesh.colour_rgb[chosen].astype(int)


def greener(colours):
    return colours[:, 1] > colours[:, 0] + 8


def test_city_trees_stand_beside_roads():
    without, town = built(PAVED), built(replace(PAVED, lawns_per_ha=12.0))
    corners, colours = faces(town, "terrain")
    lawns = corners[greener(colours)].reshape(-1, 3)

    assert not greener(faces(without, "terrain")[1]).any()
    assert len(lawns) > 30
    beside = (lawns[:, 0] > -2) & (lawns[:, 0] < 102)
    assert not (beside & (lawns[:, 1] > ROAD_Y_M[0]) & (lawns[:, 1] < ROAD_Y_M[1])).any()
    assert sum(item.tag == TAG["vegetation"] for item in town.objects) > 10


def test_mountains_surround_the_open_land():
    town, plain = built(replace(PAVED, mountains_m=200.0)), built(PAVED)
    corners, _ = faces(town, "terrain")
    high = corners[corners[:, :, 2].max(axis=1) > 40.0].mean(axis=1)
    away = np.hypot(high[:, 0] - 50.0, high[:, 1])
    around = np.unique(np.floor(np.degrees(np.arctan2(high[:, 1], high[:, 0] - 50.0)) / 30.0))

    assert faces(plain, "terrain")[0][:, :, 2].max() < 5.0
    assert away.min() > 500.0
    assert 120.0 < corners[:, :, 2].max() < 300.0
    assert len(around) == 12


def test_park_reaches_the_road():
    town = built(replace(PAVED, parks_m=((50.0, 20.0, 25.0),)))
    near = []
    for tag in ("terrain", "sidewalk"):
        corners, colours = faces(town, tag)
        middle = corners.mean(axis=1)
        inside = (np.hypot(middle[:, 0] - 50.0, middle[:, 1] - 20.0) < 20.0) & (middle[:, 1] > 4.0)
        near.append(colours[inside])
    colours = np.concatenate(near)

    assert len(colours) > 20
    distance = [np.abs(colours - colour).sum(axis=1) for colour in (GRASS, PAVING)]
    assert (distance[0] < distance[1]).all()
