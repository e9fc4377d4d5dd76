import gc
import json
import shutil
import weakref
from pathlib import Path

import numpy as np
import pytest

import uavsim
from uavsim.dataset.convert import convert
from uavsim.dataset.reader import open_dataset
from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.validate import validate_dataset


def test_both_dialects_give_the_same_arrays(strict: Path, uav3d: Path) -> None:
    strict_data, uav3d_data = uavsim.open(strict), uavsim.open(uav3d)
    assert (strict_data.dialect_name, uav3d_data.dialect_name) == ("strict", "uav3d")
    assert strict_data.scene_names == uav3d_data.scene_names == ("scene_00", "scene_01")
    for a, b in zip(strict_data.samples(), uav3d_data.samples(), strict=True):
        assert a.token == b.token
        assert [i.channel for i in a.images] == [i.channel for i in b.images]
        assert [i.filename for i in a.images] != [i.filename for i in b.images]
        np.testing.assert_array_equal(a.images[3].pixels(), b.images[3].pixels())
        np.testing.assert_array_equal(a.boxes.corners_map_m, b.boxes.corners_map_m)
        np.testing.assert_array_equal(a.images[3].map_SE3_optical.matrix, b.images[3].map_SE3_optical.matrix)


def test_scene_is_freed_with_its_last_reference(strict: Path) -> None:
    gc.collect()
    gc.disable()
    try:
        scenes = uavsim.open(strict).scenes()
        scene = next(scenes)
        image, left = scene.samples[0].images[0], weakref.ref(scene)
        samples = [weakref.ref(sample) for sample in scene]
        scene = next(scenes)
        assert left() is None
        assert not any(sample() for sample in samples)
        assert image.pixels().shape == (90, 160, 3)
    finally:
        gc.enable()


def test_boxes_lie_where_the_masks_show_them(strict: Path) -> None:
    compared = 0
    for sample in uavsim.open(strict).samples():
        for image in sample.images:
            ids, tags = image.mask()
            assert ids.shape == tags.shape == (90, 160)
            pixels = image.project(sample.boxes.corners_map_m)
            for n, number in enumerate(sample.boxes.instance_id.tolist()):
                lines, columns = np.nonzero(ids == number)
                if len(lines) > 20 and np.isfinite(pixels[n]).all():
                    compared += 1
                    assert pixels[n, :, 0].min() - 1 <= columns.min()
                    assert columns.max() <= pixels[n, :, 0].max() + 1
                    assert pixels[n, :, 1].min() - 1 <= lines.min()
                    assert lines.max() <= pixels[n, :, 1].max() + 1
    assert compared > 20


def test_a_track_is_the_boxes_of_one_object(strict: Path) -> None:
    scene = uavsim.open(strict).scene("scene_01")
    assert sum(len(track) for track in scene.tracks) == sum(len(sample.boxes) for sample in scene)
    track = max(scene.tracks, key=lambda t: float(np.ptp(t.map_SE3_box.translation_m, axis=0).max()))
    seconds = np.diff(track.timestamps_us) / 1e6
    moved = np.diff(track.map_SE3_box.translation_m, axis=0)
    np.testing.assert_allclose(moved[0] / seconds[0], track.velocity_map_mps[0], atol=1.0)


def test_depth_and_lidar_points_lie_on_the_ground_and_on_things(strict: Path) -> None:
    sample = uavsim.open(strict).scene("scene_00").samples[1]
    points_map_m, colours = sample.images[4].points_map_m(every_px=4)
    assert len(points_map_m) == len(colours) > 300
    assert np.median(points_map_m[:, 2]) == pytest.approx(0.0, abs=0.05)
    lidar = next(scan for scan in sample.lidars if scan.channel == "LIDAR_id_1")
    assert lidar.drone_id == 1
    assert np.percentile(lidar.points_map_m()[:, 2], 20) == pytest.approx(0.0, abs=0.1)


def test_scenes_in_any_order(strict: Path) -> None:
    data = uavsim.open(strict)
    last, first = data.scene("scene_01"), data.scene("scene_00")
    assert (last.name, first.name) == ("scene_01", "scene_00")
    assert data.scene("scene_01") is last
    with pytest.raises(UnknownNameError, match="scene_01"):
        data.scene("scene_1")


def test_a_dataset_of_others_has_what_it_reports(foreign: Path) -> None:
    data = uavsim.open(foreign)
    assert data.missing == {}
    assert data.maps == {}
    sample = data.scene("scene_01").samples[0]
    assert len(sample.images) == 10
    assert len(sample.boxes) > 5
    assert not sample.boxes.instance_id.any()
    assert np.isnan(sample.boxes.velocity_map_mps).all()
    assert (sample.boxes.visible_px == -1).all()
    with pytest.raises(DatasetError, match="no instance of this image"):
        sample.images[0].mask()


def test_missing_table_is_named_and_other_data_are_read(foreign: Path, tmp_path: Path) -> None:
    shutil.copytree(foreign, tmp_path / "part")
    (tmp_path / "part/v1.0-mini/instance.json").unlink()
    data = uavsim.open(tmp_path / "part")
    assert data.missing == {"instance": "boxes"}
    sample = data.scene("scene_00").samples[0]
    assert len(sample.boxes) == 0
    assert sample.images[0].pixels().shape == (90, 160, 3)
    (tmp_path / "part/v1.0-mini/ego_pose.json").unlink()
    with pytest.raises(DatasetError, match=r"ego_pose\.json is missing"):
        uavsim.open(tmp_path / "part")


def test_folders_that_are_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        uavsim.open(tmp_path / "nowhere")
    with pytest.raises(DatasetError, match="not a dataset"):
        uavsim.open(tmp_path)
    (tmp_path / ".uavsim").mkdir()
    with pytest.raises(DatasetError, match="uavsim status"):
        uavsim.open(tmp_path)


def test_a_damaged_row_is_one_line(strict: Path, tmp_path: Path) -> None:
    shutil.copytree(strict / "v1.0-mini", tmp_path / "v1.0-mini")
    path = tmp_path / "v1.0-mini/sample_annotation.json"
    rows = json.loads(path.read_text())
    rows[0]["rotation"] = "north"
    path.write_text(json.dumps(rows))
    with pytest.raises(DatasetError, match="scene_00, sample 0"):
        _ = uavsim.open(tmp_path).scene("scene_00").samples[0].boxes


def test_scenes_that_wait_for_their_tables_are_reported(tmp_path: Path) -> None:
    """Opening the folder of a stopped run reports them."""
    (tmp_path / ".uavsim/ledger").mkdir(parents=True)
    with pytest.raises(DatasetError, match="no scene is finished yet"):
        uavsim.open(tmp_path)
    (tmp_path / ".uavsim/ledger/scene_00.json").write_text('{"scene": "scene_00", "state": "committed"}')
    readers = (uavsim.open, open_dataset, validate_dataset, lambda root: convert(root, root / "new", dialect="uav3d"))
    for reader in readers:
        with pytest.raises(DatasetError, match="1 scene is committed but the tables are not written yet"):
            reader(tmp_path)
