"""Planted defects of lidars are found with their codes."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.dataset_factory import make_dataset, table
from tests.validate.disk import edited_table
from uavsim.validate.validator import validate_version

PLANTED = {
    "count": "points.count",
    "pose": "points.box",
    "label": "points.labels",
    "lost": "files.missing",
    "stray": "points.labels",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    choices: dict[str, Any] = {
        "samples": 2,
        "sweeps": 0,
        "drones": 2,
        "size_px": (128, 72),
        "sensors": ("rgb", "instance", "depth"),
    }
    return make_dataset(tmp_path_factory.mktemp("lidar") / "set", scenes=1, lidar=True, **choices)


@pytest.mark.parametrize(("spoil", "code"), PLANTED.items())
def test_planted_defect_of_points_is_found(spoil: str, code: str, root: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(root, bad)
    if spoil == "count":
        _change(bad, "sample_annotation", lambda row: row["num_lidar_pts"] > 0, num_lidar_pts=9999)
    elif spoil == "pose":
        for row in table(bad, "calibrated_sensor"):
            if not row["camera_intrinsic"] and row["translation"] != [0.0, 0.0, 0.0]:
                _change(bad, "calibrated_sensor", lambda r, t=row["token"]: r["token"] == t, rotation=[1.0, 0, 0, 0])
    elif spoil == "label":
        (bad / table(bad, "lidarseg")[0]["filename"]).write_bytes(b"\x11")
    elif spoil == "lost":
        next((bad / "lidar_instance").rglob("*.bin")).unlink()
    else:
        (bad / "lidarseg/v1.0-mini/more_lidarseg.bin").write_bytes(b"")
    codes = {finding.code for finding in validate_version(bad, "v1.0-mini", workers=1).findings}
    assert code in codes


def _change(root: Path, table: str, which, **values) -> None:
    with edited_table(root / "v1.0-mini", table) as rows:
        next(row for row in rows if which(row)).update(values)
