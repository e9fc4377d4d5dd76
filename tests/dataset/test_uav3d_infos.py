import pickle
from pathlib import Path

import numpy as np
import pytest

from uavsim.dataset.dialects.uav3d import infos as module
from uavsim.dataset.dialects.uav3d.infos import write_uav3d_infos
from uavsim.dataset.tables import read_rows, write_rows
from uavsim.errors import InputError


def infos(root: Path, out: Path) -> dict[str, list[dict]]:
    paths = write_uav3d_infos(root, out)
    return {path.stem.rpartition("_")[2]: pickle.loads(path.read_bytes())["infos"] for path in paths}


def test_splits_and_camera_order(uav3d: Path, tmp_path: Path) -> None:
    made = infos(uav3d, tmp_path)
    assert {name: len(rows) for name, rows in made.items()} == {"train": 2, "val": 2}
    cams = made["train"][0]["cams"]
    assert list(cams)[:6] == [f"CAMERA_{c}_id_0" for c in ("FRONT", "BACK", "LEFT", "RIGHT", "BOTTOM")] + [
        "CAMERA_FRONT_id_1"
    ]
    assert cams["CAMERA_LEFT_id_1"]["data_path"].startswith("./data/uav3d/v1.0/sweeps/town10_row1/CAMERA_LEFT_id_1/")


def test_ego_is_the_ground_under_drone_0_and_everything_is_from_there(uav3d: Path, tmp_path: Path) -> None:
    info = infos(uav3d, tmp_path)["val"][0]
    bottom = info["cams"]["CAMERA_BOTTOM_id_0"]
    assert bottom["sensor2ego_translation"][:2] == [0, 0]
    assert bottom["sensor2ego_translation"][2] > 20
    assert info["ego2global_translation"][2] == 0
    x, y, _ = info["ego2global_translation"]
    boxes = [
        row for row in read_rows(uav3d / "v1.0-mini/sample_annotation.json") if row["sample_token"] == info["token"]
    ]
    near = [r for r in boxes if abs(r["translation"][0] - x) < 102.4 and abs(r["translation"][1] - y) < 102.4]
    assert len(near) == len(info["gt_boxes"]) == len(boxes) - 1  # one car is far away
    np.testing.assert_allclose(info["gt_boxes"][0, :2], np.array(near[0]["translation"][:2]) - [x, y])
    assert set(info["gt_names"]) == {"car", "walker.pedestrian.0007"}


def test_range_filter_applies_to_all_columns(uav3d: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """UAV3D's converter truncates velocities and counts instead, which misaligns them with the boxes."""
    monkeypatch.setattr(module, "_RANGE_M", (500.0, 500.0, 10.0))
    wide = infos(uav3d, tmp_path / "a")
    monkeypatch.setattr(module, "_RANGE_M", (12.0, 12.0, 10.0))
    narrow = infos(uav3d, tmp_path / "b")
    for big, small in zip(wide["train"], narrow["train"], strict=True):
        rows = [int(np.flatnonzero((big["gt_boxes"] == box).all(axis=1))[0]) for box in small["gt_boxes"]]
        assert 2 < len(rows) < len(big["gt_boxes"])
        assert rows != list(range(len(rows)))
        assert sorted(rows) == np.flatnonzero((np.abs(big["gt_boxes"][:, :2]) < 12.0).all(axis=1)).tolist()
        for field in ("gt_names", "gt_velocity", "num_lidar_pts", "num_radar_pts", "valid_flag"):
            np.testing.assert_array_equal(small[field], big[field][rows])


def test_velocities_are_differences_of_positions(uav3d: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RANGE_M", (500.0, 500.0, 10.0))
    first, second = infos(uav3d, tmp_path)["train"]
    before_m, after_m = (info["gt_boxes"][:, :2] + info["ego2global_translation"][:2] for info in (first, second))
    velocity_mps = (after_m - before_m) / ((second["timestamp"] - first["timestamp"]) * 1e-6)
    assert np.abs(velocity_mps).max() > 1
    for info in (first, second):
        np.testing.assert_allclose(info["gt_velocity"], velocity_mps, atol=1e-6)


def test_boxes_far_above_the_ground_are_left_out(uav3d: Path, tmp_path: Path) -> None:
    root = tmp_path / "hill"
    (root / "v1.0-mini").mkdir(parents=True)
    for path in (uav3d / "v1.0-mini").iterdir():
        (root / "v1.0-mini" / path.name).write_bytes(path.read_bytes())
    table = root / "v1.0-mini/sample_annotation.json"
    lifted = [{**r, "translation": [*r["translation"][:2], r["translation"][2] + 30]} for r in read_rows(table)]
    write_rows(table, lifted)
    assert len(infos(uav3d, tmp_path / "a")["train"][0]["gt_boxes"]) > 5
    assert len(infos(root, tmp_path / "b")["train"][0]["gt_boxes"]) == 0


def test_only_the_uav3d_dialect(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="convert"):
        write_uav3d_infos(strict, tmp_path)
