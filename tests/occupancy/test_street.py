"""Voxels of a street with known solids: boxes, two houses and a ground plane."""

import dataclasses
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from tools.common.factories import HOUSES, street
from uavsim.access import Dataset, Sample
from uavsim.errors import DatasetError
from uavsim.occupancy.classes import FREE, NAMES, UNKNOWN
from uavsim.occupancy.grids import GRIDS, place_grid
from uavsim.occupancy.run import Labeller
from uavsim.occupancy.town import scan_town

CAR, MANMADE, ROAD, WALKER = (NAMES.index(n) for n in ("car", "manmade", "driveable_surface", "pedestrian"))


@pytest.fixture(params=[0.8, 0.4])
def near(request, labeller: Labeller) -> Labeller:
    """Return a labeller with a grid around the houses; their faces are not on voxel borders."""
    size = tuple(round(n * 0.4 / request.param) for n in (100, 100, 30))
    shape = dataclasses.replace(GRIDS["swarm"], size=size, voxel_m=request.param, low_m=(-20.0, -20.0, -2.0))
    return dataclasses.replace(labeller, shape=shape)


def house_of(points_map_m: np.ndarray, margin_m: float) -> np.ndarray:
    """Return (N,) whether (N, 3) map points, metres, are in a house shrunk by a margin; a negative margin enlarges it."""
    inside = np.zeros(len(points_map_m), bool)
    for centre, half in HOUSES:
        off = np.abs(points_map_m - np.array(centre) * [1, -1, 1])
        inside |= (off <= np.array(half) - margin_m).all(axis=1)
    return inside


def test_only_ground_houses_and_boxes_are_occupied(near: Labeller, street_set: Dataset) -> None:
    voxels = near.label(street_set.scene("scene_00"), 0, "swarm").voxels
    reach = near.shape.voxel_m
    at = voxels.grid.centres_map_m(np.argwhere(voxels.occupied))
    boxes = street_set.scene("scene_00").samples[0].boxes
    in_box = np.zeros(len(at), bool)
    for pose, size in zip(boxes.map_SE3_box, boxes.size_lwh_m, strict=True):
        in_box |= (np.abs(pose.apply_inverse(at)) <= size / 2 + reach).all(axis=1)
    explained = (np.abs(at[:, 2]) <= reach) | house_of(at, -reach) | in_box
    assert explained.mean() > 0.999
    assert len(at) > 1000


def test_visible_roof_is_occupied_and_inside_of_house_is_unknown(near: Labeller, street_set: Dataset) -> None:
    voxels = near.label(street_set.scene("scene_00"), 0, "swarm").voxels
    centre, half = (np.array(v) for v in HOUSES[0])
    u, v = np.meshgrid(np.linspace(-0.95, 0.95, 20), np.linspace(-0.95, 0.95, 20))
    roof = np.stack([u.ravel(), v.ravel(), np.ones(u.size)], axis=1) * half + centre
    cells = voxels.grid.voxels_of(roof * [1, -1, 1] - [0, 0, 0.01])
    assert (voxels.semantics[tuple(cells.T)] == MANMADE).mean() > 0.99
    every = np.argwhere(np.ones(voxels.semantics.shape, bool))
    deep = house_of(voxels.grid.centres_map_m(every), 1.0)  # air voxels have 0.8 m: those of a wall may reach inside
    deep &= ~voxels.lidar.ravel()  # the synthetic lidar's points come from camera images, some around a corner
    assert deep.any()
    assert (voxels.semantics[tuple(every[deep].T)] == UNKNOWN).all()


def test_air_is_free_and_underground_is_unknown(near: Labeller, street_set: Dataset) -> None:
    voxels = near.label(street_set.scene("scene_00"), 0, "swarm").voxels
    height = voxels.grid.centres_map_m(np.argwhere(np.ones(voxels.semantics.shape, bool)))[:, 2].reshape(
        voxels.semantics.shape
    )
    assert (voxels.semantics[height < -2 * near.shape.voxel_m] == UNKNOWN).all()
    assert (
        voxels.semantics[height > 8.5 + near.shape.voxel_m] == FREE
    ).mean() > 0.97  # the grid's corners see no camera


def test_every_visible_box_has_voxels_of_its_class(near: Labeller, street_set: Dataset) -> None:
    sample = street_set.scene("scene_00").samples[0]
    voxels = near.label(street_set.scene("scene_00"), 0, "swarm").voxels
    kinds = {"vehicle.car": CAR, "human.pedestrian.adult": WALKER}
    inside = voxels.grid.holds(voxels.grid.voxels_of(sample.boxes.map_SE3_box.translation_m))
    assert inside.sum() >= 8
    for row in np.flatnonzero(inside).tolist():
        classes = voxels.semantics[voxels.instance == row + 1]
        assert len(classes) > 0, row
        if sample.boxes.categories[row] in kinds:
            assert (classes == kinds[sample.boxes.categories[row]]).all()


def test_one_drone_sees_a_subset_of_the_swarm(near: Labeller, street_set: Dataset) -> None:
    voxels = near.label(street_set.scene("scene_00"), 0, "swarm").voxels
    alone, together = voxels.seen_by("0"), voxels.seen_by()
    assert not (alone & ~together).any()
    assert 0 < alone.sum() < together.sum()
    cameras = [voxels.seen_by(channel=c) for c in voxels.channels if c.endswith("_id_0")]
    np.testing.assert_array_equal(np.logical_or.reduce(cameras), alone)
    np.testing.assert_array_equal(voxels.agents_that_see() > 0, together)
    assert not (voxels.lidar & (voxels.semantics == UNKNOWN)).any()


def test_visible_voxels_are_not_unknown(near: Labeller, street_set: Dataset) -> None:
    voxels = near.label(street_set.scene("scene_00"), 0, "swarm").voxels
    assert not (voxels.seen_by() & (voxels.semantics == UNKNOWN)).any()


def test_flow_of_a_car_is_its_speed_and_static_voxels_rest(near: Labeller, street_set: Dataset) -> None:
    scene = street_set.scene("scene_00")
    now, then = (sample.boxes for sample in scene.samples)
    voxels = near.label(scene, 0, "swarm").voxels
    flow = voxels.flow_m(now, then)
    owner = voxels.instance[voxels.occupied]
    np.testing.assert_allclose(flow[owner == 0], 0.0, atol=1e-9)
    cast = street()
    first = (
        int(np.flatnonzero(now.instance_id == 1)[0]) + 1
    )  # 12 degrees to the right of x in the simulator, 5 m/s, 0.5 s
    heading = np.array([np.cos(np.radians(12.0)), -np.sin(np.radians(12.0)), 0.0])
    assert cast[0].speed == 5.0
    assert (owner == first).any()
    np.testing.assert_allclose(flow[owner == first], np.tile(2.5 * heading, ((owner == first).sum(), 1)), atol=1e-3)


def test_scan_is_cached_and_read_again(street_set: Dataset, labeller: Labeller, tmp_path) -> None:
    again = Labeller.of(street_set, "Town10HD", GRIDS["swarm"], scans=(), scan_folder=tmp_path)
    (file,) = tmp_path.iterdir()
    stamp = file.stat().st_mtime_ns
    read = Labeller.of(street_set, "Town10HD", GRIDS["swarm"], scans=(), scan_folder=tmp_path)
    assert file.stat().st_mtime_ns == stamp
    for name in ("voxels", "hits", "classes", "passed", "first"):
        np.testing.assert_array_equal(getattr(read.town, name), getattr(again.town, name))
        np.testing.assert_array_equal(getattr(again.town, name), getattr(labeller.town, name))


def test_scans_are_summed(street_set: Dataset, labeller: Labeller, tmp_path) -> None:
    twice = scan_town([street_set, street_set], "Town10HD", tmp_path)
    np.testing.assert_array_equal(twice.voxels, labeller.town.voxels)
    np.testing.assert_array_equal(twice.hits, 2 * labeller.town.hits)
    np.testing.assert_array_equal(twice.passed, np.minimum(2 * labeller.town.passed.astype(int), 255))
    np.testing.assert_array_equal(twice.classes, labeller.town.classes)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"PK")
    with pytest.raises(DatasetError, match="invalid scan"):
        scan_town([street_set], "Town10HD", tmp_path)


def test_sample_without_cameras_has_no_swarm_grid() -> None:
    sample = cast("Sample", SimpleNamespace(scene_name="scene_00", number=3, images=()))
    with pytest.raises(DatasetError, match="scene_00: sample 3 has no camera"):
        place_grid(GRIDS["swarm"], sample, ground_map_m=np.zeros((1, 3)))
