"""Tables, files and labels of a dataset with a lidar on every drone, in both dialects and all versions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.dataset_factory import files_of, make_dataset, table
from uavsim.access import open_folder
from uavsim.dataset.convert import convert
from uavsim.dataset.reader import open_dataset
from uavsim.dataset.schema import LIDARSEG, SAMPLE_ANNOTATION
from uavsim.exports.formats.request import bev_of, lidar_of
from uavsim.geometry.se3 import SE3
from uavsim.images import points
from uavsim.validate.devkit_process import run_judge
from uavsim.validate.validator import validate_version

SMALL: dict[str, Any] = {
    "samples": 3,
    "sweeps": 1,
    "drones": 2,
    "size_px": (128, 72),
    "sensors": ("rgb", "instance", "depth"),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("lidar") / "set", scenes=2, lidar=True, **SMALL)


def test_every_drone_has_a_lidar_channel_before_lidar_top(root: Path) -> None:
    lidars = [row["channel"] for row in table(root, "sensor") if row["modality"] == "lidar"]
    assert lidars == ["LIDAR_id_0", "LIDAR_id_1", "LIDAR_TOP"]
    files = [row["filename"] for row in table(root, "sample_data") if "LIDAR_id_1/" in row["filename"]]
    assert {name.split("/")[0] for name in files} == {"samples", "sweeps"}
    assert all(name.endswith(".pcd.bin") and (root / name).is_file() for name in files)


def test_categories_are_all_of_lidarseg_in_order(root: Path) -> None:
    assert [row["index"] for row in table(root, "category")] == list(range(32))


def test_labels_are_named_by_scene_and_token_one_file_a_keyframe(root: Path) -> None:
    rows = table(root, "lidarseg")
    assert len(rows) == 2 * 3 * 3  # scenes, keyframes, channels
    assert len(list((root / "lidarseg/v1.0-mini").iterdir())) == len(rows)
    data = {row["token"]: row for row in table(root, "sample_data")}
    for row in rows:
        labels = np.fromfile(root / row["filename"], np.uint8)
        cloud = points.decode_points(root / data[row["sample_data_token"]]["filename"])
        assert len(labels) == len(cloud)
        assert row["filename"].endswith(f"{row['token']}_lidarseg.bin")
        assert set(np.unique(labels)) <= {2, 14, 16, 17, 21, 23, 24, 26, 28, 29, 30}


def test_points_on_an_object_are_counted_and_pixels_kept(root: Path) -> None:
    boxes = table(root, "sample_annotation")
    assert max(box["num_lidar_pts"] for box in boxes) > 5
    assert max(box["uav_visible_px"] for box in boxes) > 5 * max(box["num_lidar_pts"] for box in boxes)
    assert all(type(box["num_lidar_pts"]) is int for box in boxes)


def test_lidar_top_is_drone_0s_turn_on_the_ground(root: Path) -> None:
    data, poses = table(root, "sample_data"), {row["token"]: row for row in table(root, "ego_pose")}
    mounts = {row["token"]: row for row in table(root, "calibrated_sensor")}

    def points_map_m(channel: str) -> np.ndarray:
        row = next(r for r in data if f"/{channel}/" in r["filename"] and r["is_key_frame"])
        chain = [mounts[row["calibrated_sensor_token"]], poses[row["ego_pose_token"]]]
        points_m = points.decode_points(root / row["filename"])[:, :3].astype(float)
        for mount in chain:
            points_m = SE3(np.array(mount["rotation"]), np.array(mount["translation"])).apply(points_m)
        return points_m

    np.testing.assert_allclose(points_map_m("LIDAR_TOP"), points_map_m("LIDAR_id_0"), atol=1e-4)


def test_the_validator_accepts_it(root: Path) -> None:
    report = validate_version(root, "v1.0-mini", workers=1)
    assert [(f.code, f.message) for f in report.findings if f.code.startswith(("points", "files", "referential"))] == []
    assert not [f for f in report.findings if f.code in {"pixels.count", "shape.visibility"}]


def test_round_trip_keeps_every_byte(root: Path, tmp_path: Path) -> None:
    convert(root, tmp_path / "uav3d", dialect="uav3d")
    assert not (tmp_path / "uav3d/v1.0-mini/lidarseg.json").exists()  # its readers know no lidar
    found = {finding.code for finding in validate_version(tmp_path / "uav3d", "v1.0-mini", workers=1).findings}
    assert not {code for code in found if code.startswith(("points", "files", "referential", "pixels"))}
    convert(tmp_path / "uav3d", tmp_path / "back", dialect="strict")
    before, after = files_of(root), files_of(tmp_path / "back")
    assert set(before) == set(after)
    assert [name for name in before if before[name] != after[name]] == []


def test_test_version_has_separate_label_files(tmp_path: Path) -> None:
    """v1.0-trainval holds the test scenes too, and the devkit counts the files in each version's folder."""
    root = make_dataset(
        tmp_path / "set", scenes=2, lidar=True, version="v1.0-trainval", second_split="uav_test", **SMALL
    )
    for version, scenes in (("v1.0-trainval", 2), ("v1.0-test", 1)):
        rows = table(root, "lidarseg", version)
        assert len(rows) == scenes * 9
        assert all(
            row["filename"].startswith(f"lidarseg/{version}/") and (root / row["filename"]).is_file() for row in rows
        )
        assert len(list((root / "lidarseg" / version).iterdir())) == len(rows)


def test_readers_and_exports_see_the_lidars(root: Path) -> None:
    assert LIDARSEG in open_dataset(root).tables
    for known in (LIDARSEG, SAMPLE_ANNOTATION):
        (row, *_) = table(root, known.name)
        assert list(row) == list(known.row.__annotations__)
    sample = next(open_folder(root, "v1.0-mini").samples())
    assert [lidar_of(sample, drone) is not None for drone in (0, 1, 2)] == [True, True, False]
    assert "LIDAR_TOP" in bev_of(sample).filename


def test_the_unmodified_devkit_reads_draws_and_projects_them(root: Path) -> None:
    report = run_judge("devkit_check", str(root), "v1.0-mini", "--only", "tables", "--only", "lidar")
    lidar = report["checks"]["lidar"]
    assert report["ok"], lidar
    assert lidar["lidars"] == 2
    assert lidar["share_as_deep"] > 0.97
