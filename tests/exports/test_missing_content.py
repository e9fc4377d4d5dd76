"""Missing content of a format is reported before the export."""

import json
import shutil
from pathlib import Path

import pytest

import uavsim
from uavsim.errors import UavsimError
from uavsim.exports.formats import EXPORTERS
from uavsim.exports.formats.missing_content import missing_content
from uavsim.exports.formats.request import ExportRequest
from uavsim.exports.formats.scene_names import LISTED


def without(root: Path, out: Path, kind: str) -> uavsim.Dataset:
    """Copy a dataset without the layers of a kind, and without lidars of drones."""
    shutil.copytree(root, out)
    for table, keep in {
        "layer": lambda row: row["kind"] != kind,
        "sample_data": lambda row: "/LIDAR_id_" not in row["filename"],
    }.items():
        path = out / f"v1.0-mini/{table}.json"
        path.write_text(json.dumps([row for row in json.loads(path.read_text()) if keep(row)]))
    return uavsim.open(out)


def test_complete_dataset_has_no_warning(strict: Path) -> None:
    assert {missing_content(uavsim.open(strict), kind) for kind in ("coco", "opv2v")} == {None}


def test_missing_points_and_masks_are_warned_of(strict: Path, tmp_path: Path) -> None:
    bare = without(strict, tmp_path / "flat", "depth")
    assert "every point cloud will be empty" in str(missing_content(bare, "opv2v"))
    assert "no point clouds" in str(missing_content(bare, "griffin"))
    assert "no point clouds" in str(missing_content(bare, "v2xsim"))
    assert "only boxes" in str(missing_content(without(strict, tmp_path / "bare", "instance"), "coco"))


@pytest.mark.parametrize("kind", ["airv2x", "griffin", "euroc", "aot", "openad"])
def test_missing_requirement_is_refused_before_writing(kind: str, strict: Path, tmp_path: Path) -> None:
    without(strict, tmp_path / "flat", "depth")
    with pytest.raises(UavsimError, match=r"has no|no vehicle|no IMU|no scene|no corner case"):
        EXPORTERS.pick(kind)(ExportRequest(tmp_path / "flat", tmp_path / "out"))
    assert not list((tmp_path / "out").rglob("*"))


def test_mmdet3d_without_points_is_warned_of(strict: Path, tmp_path: Path) -> None:
    bare = without(strict, tmp_path / "flat", "depth")
    assert missing_content(bare, "mmdet3d") is None  # of depth images
    for path in (bare.root / "samples/LIDAR_TOP").iterdir():
        path.write_bytes(b"")
    assert "camera detectors" in str(missing_content(bare, "mmdet3d"))


def test_agents_that_do_not_fit_nuscenes_converters_are_named(
    strict: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = str(missing_content(uavsim.open(strict), "agents"))
    assert note.endswith("will fail on: drone_0, drone_1 without the six cameras of a nuScenes car")
    slow = without(strict, tmp_path / "slow", "none")
    samples = slow.root / "v1.0-mini/sample.json"
    rows = json.loads(samples.read_text())
    samples.write_text(
        json.dumps([row | {"timestamp": row["timestamp"] + 1_500_000 * (not row["next"])} for row in rows])
    )
    monkeypatch.setitem(LISTED, "val", ())
    note = str(missing_content(uavsim.open(slow.root), "agents"))
    assert "car; keyframes 2 s apart instead of 0.5 s; 1 scenes for val, of which nuScenes lists 0" in note
