"""What cannot be read is one line that says where it broke; the traceback is there for whoever asks."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dataset_factory import make_dataset
from uavsim.dataset.fragment import open_fragment
from uavsim.errors import DatasetError
from uavsim.files.parse import reading
from uavsim.records.codec import unpack_plan
from uavsim.validate import validate_version


def test_the_line_says_where_it_broke_and_whose_mistake_it_may_be() -> None:
    with pytest.raises(DatasetError) as caught, reading("a table"):
        json.loads('{"a": 1}')["b"]
    said = str(caught.value)
    assert "KeyError" in said
    assert "at test_reading.py:" in said or "at parse.py:" in said
    assert "report a mistake of uavsim" in said
    assert "\n" not in said


@pytest.mark.parametrize(("data", "said"), [(b"\x91" * 2000, "StackError"), (b"\xc1", "FormatError")])
@pytest.mark.parametrize("read", [unpack_plan, open_fragment])
def test_packed_data_that_is_refused_without_words_is_given_some(
    read: Callable[[bytes], object], data: bytes, said: str
) -> None:
    with pytest.raises(DatasetError, match=f": {said}$"):
        read(data)


def test_what_is_ours_alone_is_not_called_damage() -> None:
    with pytest.raises(AssertionError), reading("a table"):
        raise AssertionError("a thing that cannot be")
    with pytest.raises(NotImplementedError), reading("a table"):
        raise NotImplementedError


@pytest.mark.parametrize("wanted", [True, False])
def test_the_traceback_is_printed_for_those_who_ask(tmp_path: Path, wanted: bool) -> None:
    root = make_dataset(tmp_path / "set", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))
    table = root / "v1.0-mini/sample_data.json"
    rows = json.loads(table.read_text())
    del rows[0]["calibrated_sensor_token"]
    table.write_text(json.dumps(rows))
    env = {**os.environ, **({"UAVSIM_TRACEBACK": "1"} if wanted else {})}
    command = [sys.executable, "-m", "uavsim", "export", str(root), str(tmp_path / "out"), "--format", "opv2v"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 4
    assert ("Traceback" in done.stderr) == wanted
    assert "KeyError" in done.stderr


@pytest.mark.parametrize("gone", ["uav_walkers_spawned", "uav_vehicles_asked"])
def test_a_log_that_reports_half_is_no_end_of_the_validator(tmp_path: Path, gone: str) -> None:
    root = make_dataset(tmp_path / "set", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))
    table = root / "v1.0-mini/log.json"
    rows = json.loads(table.read_text())
    for row in rows:
        del row[gone]
    table.write_text(json.dumps(rows))
    assert "coverage.spawned" not in validate_version(root, "v1.0-mini", workers=1).counts


def test_a_box_of_no_sample_that_is_not_turned_right_is_reported(tmp_path: Path) -> None:
    root = make_dataset(tmp_path / "set", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))
    table = root / "v1.0-mini/sample_annotation.json"
    rows = json.loads(table.read_text())
    rows[0] |= {"sample_token": "", "rotation": [0.5, 0, 0, 0]}
    table.write_text(json.dumps(rows))
    assert validate_version(root, "v1.0-mini", workers=1).counts["shape.rotation"] == 1


@pytest.mark.parametrize(("command", "option"), [("export", "--format=opv2v"), ("convert", "--dialect=uav3d")])
@pytest.mark.parametrize("place", ["", "new/below", "../linked"])
def test_no_result_goes_into_its_own_dataset(tmp_path: Path, command: str, option: str, place: str) -> None:
    root = make_dataset(tmp_path / "set", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))
    (tmp_path / "linked").symlink_to(root)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    done = subprocess.run(
        [sys.executable, "-m", "uavsim", command, str(root), str(root / place), option],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "dataset itself" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
