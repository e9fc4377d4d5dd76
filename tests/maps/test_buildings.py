"""Footprints of buildings against the town's triangles and depth images of its roofs."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import shapely
from headless_simulator.testing import RunningSimulator, running_simulator
from headless_simulator.towns.load import load_town
from typer.testing import CliRunner

from tests.maps.drawn import crossing
from uavsim.access.bev import bev_of_map
from uavsim.cli import build_app
from uavsim.cli.map_source import network_of
from uavsim.geometry.bev import BevFrame
from uavsim.images.codec import decode_rgb
from uavsim.maps.build import build
from uavsim.maps.expansion import expansion_json, read_expansion
from uavsim.maps.files import files_of_town, geojson_files
from uavsim.maps.raster import draw_town
from uavsim.maps.vector_map import VectorMap
from uavsim.records.road_map import Building, TownSource

JUDGE = Path(__file__).with_name("judges") / "roofs_judge.py"
TAG = 3  # CARLA's, of buildings
HOUSES = (
    Building("low", -0.5, 6.0, ((10, 10), (20, 10), (20, 30), (10, 30))),
    Building("high", 0.0, 40.0, ((15, 20), (25, 20), (20, 30))),
    Building("a line", 0.0, 9.0, ((0, 0), (1, 1), (2, 2))),
)


@pytest.fixture(scope="module")
def own_simulator() -> Iterator[RunningSimulator]:
    """Run a simulator for this module, unaffected by other tests."""
    with running_simulator("--town", "Town10HD") as simulator:
        yield simulator


@pytest.fixture(scope="module")
def town(own_simulator: RunningSimulator) -> VectorMap:
    network, name, listed = network_of(own_simulator.carla, buildings=True)
    return build(network, name, listed)


def test_footprints_equal_the_towns_triangles(town: VectorMap) -> None:
    source = load_town(town.name)
    houses = {row.name: row.object_id for row in source.objects if row.tag == TAG}
    layer = town.layer("building")
    assert sorted(houses) == sorted(row["uav_name"] for row in layer.fields)
    numbers = source.mesh.object_id
    order = np.argsort(numbers, kind="stable")
    for shape, row in zip(layer.shapes, layer.fields, strict=True):
        first, last = np.searchsorted(numbers[order], [houses[row["uav_name"]], houses[row["uav_name"]] + 1])
        corners_ue_m = source.mesh.vertices_m[source.mesh.triangles[order[first:last]]].reshape(-1, 3)
        corners = corners_ue_m * (1.0, -1.0, 1.0)
        inside = shapely.distance(shapely.force_2d(shape), shapely.points(corners[:, :2])).max() < 0.01
        ring = shapely.get_coordinates(shape)
        sides = shapely.linestrings(np.stack([ring[:-1], ring[1:]], axis=1))
        touched = [shapely.distance(side, shapely.points(corners[:, :2])).min() < 0.01 for side in sides]
        assert inside, row
        assert all(touched), row
        assert row["uav_height_m"] == pytest.approx([corners[:, 2].min(), corners[:, 2].max()], abs=0.01)


def test_depth_cameras_see_roofs_at_their_position_and_height(
    town: VectorMap, own_simulator: RunningSimulator, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, JUDGE, own_simulator.carla, tmp_path / "seen.npz"], check=True)
    captured = np.load(tmp_path / "seen.npz")
    roofs = captured["points_map_m"][captured["tags"] == TAG]
    assert len(roofs) > 10_000
    points = shapely.points(roofs[:, :2])
    distance = shapely.distance(shapely.union_all(town.layer("building").shapes), points)
    assert distance.max() < 0.05
    buildings = town.layer("building")
    which, found = shapely.STRtree(buildings.shapes).query(points, predicate="dwithin", distance=0.05)
    tops = np.array([row["uav_height_m"][1] for row in buildings.fields])
    assert (roofs[which, 2] < tops[found] + 0.05).all()
    highest = np.full(len(buildings), -np.inf)
    np.maximum.at(highest, found, roofs[which, 2])
    west, south, east, north = shapely.bounds(buildings.shapes).T
    inside = np.zeros(len(buildings), bool)
    for x, y, z in captured["cameras_map_m"]:
        reach = (z - tops) * captured["reach"]  # at the height of the roof, from the image's middle to its border
        inside |= (west > x - reach) & (east < x + reach) & (south > y - reach) & (north < y + reach) & (tops < z)
    assert inside.sum() > 10
    assert np.abs(highest - tops)[inside].max() < 0.05
    over = town.roof_map_m(roofs)
    assert np.isfinite(over).mean() > 0.99  # the rest are walls
    assert np.nanmin(over - roofs[:, 2]) > -0.05


def test_building_layer_round_trips_and_changes_no_other_layer() -> None:
    plain, built = build(crossing(), "T"), build(crossing(), "T", HOUSES)
    assert "building" not in json.loads(expansion_json(plain))
    again = read_expansion(expansion_json(built), name="T")
    assert expansion_json(again) == expansion_json(built)
    assert again.bounds_m == plain.bounds_m
    (low, high) = again.shapes_map_m("building").values()  # what has no area is no building
    assert [ring.tolist() for ring in low] == [[[10, 10, 6], [10, 30, 6], [20, 30, 6], [20, 10, 6], [10, 10, 6]]]
    assert set(high[0][:, 2]) == {40.0}
    assert list(again.heights_map_m("building").values()) == [(-0.5, 6.0), (0.0, 40.0)]
    np.testing.assert_array_equal(
        again.roof_map_m(np.array([[12, 12], [19, 22], [24, 20.2], [0, 0]])), [6, 40, 40, np.nan]
    )
    (features,) = (
        json.loads(data)["features"] for data in geojson_files(built, "T").values() if isinstance(data, bytes)
    )
    houses = [one for one in features if one["properties"]["layer"] == "building"]
    assert [one["properties"]["uav_height_m"] for one in houses] == [[-0.5, 6.0], [0.0, 40.0]]


def test_drivable_area_shapes_cover_the_whole_area() -> None:
    town = build(crossing(), "T")
    again = read_expansion(expansion_json(town), name="T")
    for one in (town, again):
        (rings,) = one.shapes_map_m("drivable_area").values()
        area = shapely.area(shapely.polygons(rings[0], holes=rings[1:] or None))
        assert area == pytest.approx(shapely.area(town.layer("drivable_area").shapes[0]), rel=1e-6)


def test_buildings_are_drawn() -> None:
    built = build(crossing(), "T", HOUSES)
    frame = BevFrame((15.0, 20.0), 0.0, size_m=(40.0, 40.0), metres_per_px=0.1)
    (mask,) = bev_of_map(built, ["building"], frame)
    assert mask.sum() * 0.01 == pytest.approx(225, abs=5)  # 200 m^2, and half of the triangle's 50 beside them
    drawn = [draw_town(one) for one in (build(crossing(), "T"), built)]
    assert drawn[0].shape == drawn[1].shape
    assert (drawn[0] != drawn[1]).any(axis=2).sum() == pytest.approx(4 * 225, abs=100)  # 2 pixels a metre


def test_plan_draws_a_written_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("T.json").write_bytes(expansion_json(build(crossing(), "T", HOUSES)))
    arguments = ["plan", "--dataset", "smoke", "--town", "Town10HD", "--png", "T.png", "--xodr", "T.json"]
    result = CliRunner().invoke(build_app("plan"), arguments)
    assert result.exit_code == 0, result.output
    image = decode_rgb(Path("T.png").read_bytes())
    assert {(209, 205, 222), (205, 203, 198)} <= set(map(tuple, image.reshape(-1, 3).tolist()))


def test_dataset_maps_hold_buildings_on_request() -> None:
    text = load_town("Town02").opendrive.encode()
    with_them, without = (
        files_of_town(TownSource(text, listed), "T", ["expansion", "geojson"]) for listed in (HOUSES, ())
    )
    assert json.loads(with_them["maps/expansion/T.json"])["building"][0]["uav_name"] == "low"
    assert with_them["maps/basemap/T.png"] == without["maps/basemap/T.png"]
    assert b'"building"' not in without["maps/geojson/T.geojson"]
