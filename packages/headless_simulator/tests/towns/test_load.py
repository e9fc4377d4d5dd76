"""Complete towns for servers and renderers."""

import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from headless_simulator.scene import SIGNAL_GREEN, SIGNAL_RED, SIGNAL_YELLOW, TAG, WINDOW, Mesh
from headless_simulator.towns import NAMES, OpenDriveRefused, TownRefused, cache, load_opendrive, load_town
from headless_simulator.towns.assemble import assemble
from headless_simulator.towns.raster import Grid, bilinear
from headless_simulator.towns.strips import lane_strips
from headless_simulator.towns.styles import RURAL
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module", params=["Town10HD", "Town07"])
def town(request, own_cache):
    return load_town(request.param)


def same(a, b):
    return cache.encode(a) == cache.encode(b)


def test_spawn_point_count_equals_carlas(town):
    expected = {"Town10HD": 155, "Town07": 116}[town.name]
    xy = town.spawn_points[:, :2]
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2) + np.eye(len(xy)) * 1e3

    assert town.spawn_points.shape == (expected, 6)
    assert apart.min() > 6.0
    np.testing.assert_allclose(town.spawn_points[:, 2] - height(town, xy), 0.3, atol=0.03)


def height(town, xy):
    ground = town.ground
    return bilinear(Grid(ground.origin_m, ground.cell_m, ground.height_m.shape), ground.height_m, xy)


def test_ground_equals_the_road_within_2_cm(town):
    network = read_network(town.opendrive.encode(), town.name)
    lanes = [strip for strip in lane_strips(network) if strip.kind == "driving"]

    for share in (0.1, 0.5, 0.9):  # across the lane
        line = np.concatenate([lane.inner_m + share * (lane.outer_m - lane.inner_m) for lane in lanes])
        assert np.abs(height(town, line[:, :2]) - line[:, 2]).max() < 0.025


def test_mesh_is_consistent(town):
    mesh = town.mesh

    assert mesh.triangles.min() == 0
    assert mesh.triangles.max() == len(mesh.vertices_m) - 1
    assert np.isfinite(mesh.vertices_m).all()
    assert {len(getattr(mesh, part.name)) for part in fields(Mesh)} == {len(mesh.vertices_m), len(mesh.triangles)}
    assert len(mesh.triangles) < 150_000
    assert (mesh.material == WINDOW).sum() > 100
    tags = {name for name, tag in TAG.items() if (mesh.tag == tag).any()}
    assert tags >= {"road", "sidewalk", "building", "pole", "traffic_light", "vegetation", "terrain", "road_line"}


def test_triangles_come_by_ground_tile(town):
    middle = town.mesh.vertices_m[town.mesh.triangles].mean(axis=1)
    tile = np.floor(middle[:, :2] / 32.0)
    changes = int(np.any(np.diff(tile, axis=0) != 0, axis=1).sum())

    assert changes < 1.2 * len(np.unique(tile, axis=0))  # a middle may round into the next tile after sharing vertices


def test_objects_have_ids_and_boxes(town):
    assert [item.object_id for item in town.objects] == list(range(1, len(town.objects) + 1))
    assert len({item.name for item in town.objects}) == len(town.objects)
    assert town.mesh.object_id.max() == len(town.objects)
    points = defaultdict(list)
    for number, triangle in zip(town.mesh.object_id, town.mesh.triangles, strict=True):
        points[int(number)].append(triangle)
    for item in town.objects[::7]:
        corners = town.mesh.vertices_m[np.concatenate(points[item.object_id])] - np.array(item.box_centre_m)
        yaw = np.radians(item.pose[4])
        along = corners[:, :2] @ np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        slack = 0.35 if item.tag in (TAG["traffic_light"], TAG["car"], TAG["truck"]) else 0.01
        assert (np.abs(along).max(axis=0) <= np.array(item.box_half_m[:2]) + slack).all(), item.name
        assert np.abs(corners[:, 2]).max() <= item.box_half_m[2] + slack


def test_driving_lanes_are_free_of_objects(town):
    network = read_network(town.opendrive.encode(), town.name)
    lanes = [strip for strip in lane_strips(network) if strip.kind == "driving"]
    line = np.concatenate(
        [lane.inner_m + share * (lane.outer_m - lane.inner_m) for lane in lanes for share in (0.2, 0.5, 0.8)]
    )
    solid = [
        item for item in town.objects if item.name.startswith(("Building", "ParkedVehicle", "StreetLight", "Tree"))
    ]
    assert len(solid) > 100

    for item in solid:
        half = np.array(item.box_half_m[:2])
        if item.name.startswith(("StreetLight", "Tree")):
            half = np.array([0.3, 0.3])  # crowns and lamp arms may reach over the road
        yaw = np.radians(item.pose[4])
        centre = np.array(item.pose[:2] if half[0] == 0.3 else item.box_centre_m[:2])
        local = (line[:, :2] - centre) @ np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        assert not np.any((np.abs(local) < half).all(axis=1)), item.name


def test_lights_have_stages_and_lamps(town):
    stages = defaultdict(set)
    for head in town.signals:
        stages[head.group].add(head.stage)
        assert len(head.stop_lines) >= 1
        materials = town.mesh.material[head.lamp_triangles]
        assert set(materials.tolist()) == {SIGNAL_RED, SIGNAL_YELLOW, SIGNAL_GREEN}
        x, y, _, half_x, half_y, _, yaw = head.trigger
        turn = np.radians(yaw)
        for stop in head.stop_lines:
            ahead = (stop[0] - x) * np.cos(turn) + (stop[1] - y) * np.sin(turn)
            side = (stop[1] - y) * np.cos(turn) - (stop[0] - x) * np.sin(turn)
            assert abs(ahead) <= half_x
            assert abs(side) <= half_y
    assert town.signals
    assert all(members == set(range(len(members))) and len(members) >= 2 for members in stages.values())


def test_walk_polygons_are_convex_and_connected(town):
    parent = list(range(len(town.walk_polygons)))

    def root(number):
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    owner: dict[Any, Any] = {}
    for number, (corners, _) in enumerate(town.walk_polygons):
        xy = np.array(corners)[:, :2]
        step = np.roll(xy, -1, axis=0) - xy
        turn = step[:, 0] * np.roll(step, -1, axis=0)[:, 1] - step[:, 1] * np.roll(step, -1, axis=0)[:, 0]
        assert (turn > -1e-6).all() or (turn < 1e-6).all()
        for edge in zip(corners, corners[1:] + corners[:1], strict=True):
            other = owner.setdefault(frozenset(edge), number)
            parent[root(number)] = root(other)
    assert len({root(number) for number in parent}) == 1
    assert {area for _, area in town.walk_polygons} == {"sidewalk", "crosswalk"}


def test_crosswalks_are_closed(town):
    assert town.crosswalks
    for outline in town.crosswalks:
        np.testing.assert_array_equal(outline[0], outline[-1])


def test_speed_limit_samples_lie_along_lanes(town):
    assert set(town.speed_limits[:, 2]) >= {40.0, 60.0}
    assert len(town.speed_limits) > 300


@pytest.mark.release
def test_cached_town_equals_the_built_town():
    first = load_town("Town07", seed=3)
    file = next(cache.folder().glob(f"*{cache.key('Town07', b'', 3)}"))
    second = load_town("Town07", seed=3)

    assert same(first, second)
    assert first.signals[0].pose == second.signals[0].pose
    assert first.objects == second.objects
    assert first.walk_polygons == second.walk_polygons
    assert second.mesh.vertices_m.flags.writeable
    for damage in (b"", file.read_bytes()[:-1], file.read_bytes()[:500] + b"!" + file.read_bytes()[501:]):
        file.write_bytes(damage)
        assert same(load_town("Town07", seed=3), first)


def test_build_is_reproducible_in_another_process(tmp_path, town):
    if town.name != "Town07":
        pytest.skip("one town is enough")
    code = (
        "import hashlib; from headless_simulator.towns import cache, load_town\n"
        "print(hashlib.sha256(cache.encode(load_town('Town07'))).hexdigest())"
    )
    other = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=other, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == hashlib.sha256(cache.encode(town)).hexdigest()


def test_seed_changes_the_town_but_not_the_roads():
    first, second = load_town("Town07", seed=0), load_town("Town07", seed=1)

    assert first.opendrive == second.opendrive
    assert not same(first, second)


def test_unknown_town_names_the_nearest():
    with pytest.raises(TownRefused, match=r"unknown town 'Town10'; did you mean 'Town10HD'") as caught:
        load_town("Town10")
    assert "\n" not in str(caught.value)
    layered = load_town("/Game/Carla/Maps/Town07_Opt")
    assert layered.name == "Town07_Opt"
    assert layered.opendrive == load_town("Town07").opendrive
    assert "Town03" in NAMES


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(TownRefused, match="cannot read"):
        load_opendrive(tmp_path / "none.xodr")
    os.mkfifo(tmp_path / "pipe.xodr")
    with pytest.raises(TownRefused, match="not a regular file"):
        load_opendrive(tmp_path / "pipe.xodr")
    latin = tmp_path / "latin.xodr"
    latin.write_bytes(
        b'<?xml version="1.0" encoding="ISO-8859-1"?>\n' + document(road()).split(b"\n", 1)[1] + b"<!-- \xe9 -->"
    )
    with pytest.raises(OpenDriveRefused, match=r"latin.xodr, line \d+, <document>: it is not UTF-8"):
        load_opendrive(latin)


UNUSUAL = {
    "one straight road": road(),
    "a lane of no width": road(
        right='<lane id="-1" type="driving"><width sOffset="0" a="3"/></lane><lane id="-2" type="shoulder"/>'
    ),
    "a spiral": road(
        plan='<geometry s="0" x="0" y="0" hdg="0" length="100"><spiral curvStart="0" curvEnd="0.02"/></geometry>'
    ),
    "a paramPoly3 without a range": road(
        plan='<geometry s="0" x="0" y="0" hdg="0" length="100"><paramPoly3 aU="0" bU="100" cU="0" dU="0" '
        'aV="0" bV="0" cV="9" dV="0"/>'
        "</geometry>"
    ),
    "a piece of no length": road(
        plan='<geometry s="0" x="0" y="0" hdg="0" length="0"><line/></geometry>'
        '<geometry s="0" x="0" y="0" hdg="0" length="100"><line/></geometry>'
    ),
    "a road shorter than its records": road(length="60"),
    "a steep hill": road(
        before_lanes='<elevationProfile><elevation s="0" a="0" b="0.15" c="0" d="0"/></elevationProfile>'
    ),
    "two levels": road()
    + road(
        number="2",
        plan='<geometry s="0" x="50" y="-50" hdg="1.5708" length="100"><line/></geometry>',
        before_lanes='<elevationProfile><elevation s="0" a="7" b="0" c="0" d="0"/></elevationProfile>',
    ),
    "a light outside junctions": road(
        tail='<signals><signal id="x" s="50" t="-5" type="1000001" orientation="+"/></signals>'
    ),
    "a crosswalk without outline": road(
        tail='<objects><object id="c" type="crosswalk" s="50" t="0" length="3" width="7" hdg="0"/></objects>'
    ),
    "a parking lane of bays": road(
        right='<lane id="-1" type="driving"><width sOffset="0" a="3"/></lane>'
        '<lane id="-2" type="parking"><width sOffset="0" a="5"/></lane>'
    ),
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_unusual_but_valid_files_are_accepted(what):
    data = document(UNUSUAL[what])

    got = assemble("Odd", data.decode(), read_network(data, "odd.xodr"), RURAL, 0)

    assert len(got.spawn_points) >= 1
    assert np.isfinite(got.mesh.vertices_m).all()
    assert np.isfinite(got.ground.height_m).all()
    assert (got.mesh.tag == TAG["road"]).any()
    json.dumps(got.crosswalks[0].tolist() if got.crosswalks else [])
