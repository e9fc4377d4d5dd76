"""Streams against their rows and the poses of the same times."""

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.dataset_factory import make_dataset
from tests.streams import add_streams
from tests.validate.disk import edited_table
from uavsim.files.parquet import Records, from_parquet, to_parquet
from uavsim.validate.validator import validate_version

IMU = "streams/IMU_id_1/scene_00__IMU_id_1.parquet"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_dataset(
        tmp_path_factory.mktemp("streams") / "set", scenes=1, samples=2, sweeps=1, drones=2, size_px=(32, 18)
    )
    add_streams(root, drones=2)
    return root


def found(root: Path) -> list[tuple[str, str]]:
    report = validate_version(root, "v1.0-mini", workers=1)
    return [(f.code, f.message) for f in report.findings if f.code.startswith(("streams", "files", "schema"))]


def test_valid_streams_have_no_finding(clean: Path) -> None:
    assert found(clean) == []


def test_streams_are_skipped_without_pyarrow(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "pyarrow" else find(name, *more)
    )
    report = validate_version(clean, "v1.0-mini", workers=1)
    assert "pyarrow, which is not installed: " in report.skipped["streams.readings"]


def shifted(rows: Records) -> Records:
    rows["position_map_m"][10] += 0.01  # at the sweep, a quarter of a second later
    rows["position_map_m"][50] += 0.01
    return rows


def late(rows: Records) -> Records:
    rows["timestamp_us"][7] += 1
    return rows


def unknown(rows: Records) -> Records:
    rows["gyroscope_radps"][3, 1] = np.nan
    return rows


WRONG: dict[str, tuple[Callable[[Records], Records], str, str]] = {
    "one lost": (lambda rows: rows[:-1], "streams.readings", "100 readings, count is 101"),
    "late": (late, "streams.readings", "readings are 4999 to 5001 us apart, rate_hz is 200"),
    "unknown": (unknown, "streams.readings", "gyroscope_radps is not finite"),
    "shifted": (shifted, "streams.place", "up to 0.010 m from the poses at its time"),
}
PLANTED = {"no parquet": "streams.file", **{name: code for name, (_, code, _) in WRONG.items()}}


@pytest.mark.parametrize(("change", "code", "reported"), WRONG.values(), ids=WRONG)
def test_planted_defect_of_streams_is_found(
    clean: Path, tmp_path: Path, change: Callable[[Records], Records], code: str, reported: str
) -> None:
    root = tmp_path / "set"
    shutil.copytree(clean, root)
    rows, about = from_parquet((root / IMU).read_bytes(), name=IMU)
    (root / IMU).write_bytes(to_parquet(change(rows), about))
    ((name, message),) = found(root)
    assert name == code
    assert reported in message


def test_a_row_without_a_rate_is_found(clean: Path, tmp_path: Path) -> None:
    root = tmp_path / "set"
    shutil.copytree(clean, root)
    with edited_table(root / "v1.0-mini", "stream") as rows:
        rows[0]["rate_hz"] = 0
    ((code, message),) = found(root)
    assert code == "streams.readings"
    assert "rate_hz is 0" in message


def test_a_file_that_is_no_parquet_is_found(clean: Path, tmp_path: Path) -> None:
    root = tmp_path / "set"
    shutil.copytree(clean, root)
    (root / IMU).write_bytes(b"PAR1 no more")
    assert [code for code, _ in found(root)] == ["streams.file"]
