import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.dataset_factory import add_what_no_dialect_knows, files_of
from uavsim.dataset.convert import convert
from uavsim.dataset.dialects.uav3d.format import Uav3dOptions
from uavsim.dataset.reader import open_dataset
from uavsim.dataset.tables import read_rows, write_rows
from uavsim.errors import DatasetError, InputError


@pytest.mark.parametrize(
    "options", [Uav3dOptions(), Uav3dOptions(timestamp_unit="ns", num_pts="minus_one")], ids=["default", "as released"]
)
def test_round_trip_keeps_every_byte(options: Uav3dOptions, strict: Path, tmp_path: Path) -> None:
    convert(strict, tmp_path / "uav3d", dialect="uav3d", options=options)
    convert(tmp_path / "uav3d", tmp_path / "back", dialect="strict")
    before, after = files_of(strict), files_of(tmp_path / "back")
    assert set(before) == set(after)
    assert [name for name in before if before[name] != after[name]] == []


def test_streams_and_vector_maps_survive_a_round_trip(strict: Path, tmp_path: Path) -> None:
    root = tmp_path / "strict"
    shutil.copytree(strict, root)
    names = add_what_no_dialect_knows(root)
    convert(root, tmp_path / "uav3d", dialect="uav3d")
    assert names <= set(files_of(tmp_path / "uav3d"))
    convert(tmp_path / "uav3d", tmp_path / "back", dialect="strict")
    assert files_of(tmp_path / "back") == files_of(root)


def test_images_are_linked_not_copied(strict: Path, uav3d: Path) -> None:
    for row in read_rows(uav3d / "v1.0-mini/sample_data.json")[:5]:
        assert (uav3d / row["filename"]).samefile(strict / row["uav_filename"])


def test_release_units(strict: Path, tmp_path: Path) -> None:
    convert(strict, tmp_path / "b", dialect="uav3d", options=Uav3dOptions(timestamp_unit="ns", num_pts="minus_one"))
    (first, *_) = read_rows(tmp_path / "b/v1.0-mini/sample.json")
    (was, *_) = read_rows(strict / "v1.0-mini/sample.json")
    assert first["timestamp"] == was["timestamp"] * 1000
    box = read_rows(tmp_path / "b/v1.0-mini/sample_annotation.json")[0]
    assert (box["num_lidar_pts"], box["num_radar_pts"]) == (-1, -1)


def test_tables_of_others_convert_too(uav3d: Path, tmp_path: Path) -> None:
    """Tables as in UAV3D's release: without uavsim's columns, in any order, in one line."""
    release_like = tmp_path / "release"
    shutil.copytree(uav3d, release_like)
    folder = release_like / "v1.0-mini"
    for extra in ("uav_dataset", "camera_pose", "layer", "visibility_detail"):
        (folder / f"{extra}.json").unlink()
    for path in folder.glob("strict_*.json"):
        path.unlink()
    for path in folder.glob("*.json"):
        if path.name != "splits.json":
            plain = [{k: v for k, v in row.items() if not k.startswith("uav_")} for row in read_rows(path)]
            path.write_text(json.dumps(plain if path.stem in {"scene", "sample"} else plain[::-1]))
    convert(release_like, tmp_path / "strict", dialect="strict")
    made = open_dataset(tmp_path / "strict")
    strict_boxes = {row["token"]: row for row in read_rows(uav3d / "v1.0-mini/sample_annotation.json")}
    for row in read_rows(made.folder / "sample_annotation.json"):
        x, y, z = strict_boxes[row["token"]]["uav_box_translation"]
        dx, dy, dz = np.array(row["translation"]) - [x, y, z]
        assert np.hypot(dx, dy) < 0.3  # the offset of the box is not in their tables
        assert abs(dz) < 2.2
        length, width, height = strict_boxes[row["token"]]["size"]
        assert row["size"] == [width, length, height]
    lidar = [row for row in read_rows(made.folder / "sample_data.json") if not row["height"]]
    assert len(lidar) == 4
    assert all((made.root / row["filename"]).is_file() for row in lidar)
    # a camera's global pose is unchanged
    sensors = {row["token"]: row for row in read_rows(made.folder / "calibrated_sensor.json")}
    egos = {row["token"]: row for row in read_rows(made.folder / "ego_pose.json")}
    for pose in read_rows(uav3d / "v1.0-mini/camera_pose.json")[:20]:
        np.testing.assert_allclose(egos[pose["token"]]["translation"], pose["translation"], atol=1e-9)
        assert abs(np.dot(sensors[pose["token"]]["rotation"], pose["rotation"])) == pytest.approx(1.0, abs=1e-12)


def test_impossible_conversions_are_refused(strict: Path, uav3d: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="already"):
        convert(strict, tmp_path / "a", dialect="strict")
    with pytest.raises(InputError, match="is not empty"):
        convert(strict, uav3d, dialect="uav3d")
    with pytest.raises(DatasetError, match="not a dataset"):
        convert(tmp_path, tmp_path / "b", dialect="uav3d")


def test_a_missing_or_escaping_file_is_reported(strict: Path, tmp_path: Path) -> None:
    root = tmp_path / "hurt"
    shutil.copytree(strict, root)
    table = root / "v1.0-mini/sample_data.json"
    rows = read_rows(table)
    (root / rows[0]["filename"]).unlink()
    with pytest.raises(DatasetError, match="missing"):
        convert(root, tmp_path / "a", dialect="uav3d")
    rows[0]["filename"] = "../../secret.png"
    write_rows(table, rows)
    with pytest.raises(DatasetError, match="leaves the dataset"):
        convert(root, tmp_path / "b", dialect="uav3d")
