"""Unreadable files: one line that locates the error, and a traceback on request."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.command import uavsim
from tests.hostile.datasets import edit_first, edit_table, run_uavsim
from uavsim.dataset.fragment import open_fragment
from uavsim.errors import DatasetError
from uavsim.files.parse import reading
from uavsim.records.codec import unpack_plan
from uavsim.validate import validate_version


def test_error_names_exception_and_line() -> None:
    with pytest.raises(DatasetError) as caught, reading("a table"):
        json.loads('{"a": 1}')["b"]
    message = str(caught.value)
    assert "KeyError" in message
    assert "at test_reading.py:" in message or "at parse.py:" in message
    assert "report a bug in uavsim" in message
    assert "\n" not in message


@pytest.mark.parametrize(("data", "reason"), [(b"\x91" * 2000, "StackError"), (b"\xc1", "FormatError")])
@pytest.mark.parametrize("read", [unpack_plan, open_fragment])
def test_msgpack_exception_without_message_is_named(read: Callable[[bytes], object], data: bytes, reason: str) -> None:
    with pytest.raises(DatasetError, match=f": {reason}$"):
        read(data)


def test_program_errors_are_not_called_damage() -> None:
    with pytest.raises(AssertionError), reading("a table"):
        raise AssertionError("impossible")
    with pytest.raises(NotImplementedError), reading("a table"):
        raise NotImplementedError


@pytest.mark.parametrize("requested", [True, False])
def test_traceback_is_printed_on_request(tiny_copy: Path, tmp_path: Path, requested: bool) -> None:
    edit_table(tiny_copy, "sample_data", lambda rows: rows[0].pop("calibrated_sensor_token"))
    env = {"UAVSIM_TRACEBACK": "1"} if requested else {}
    done = run_uavsim("export", tiny_copy, tmp_path / "out", "--format", "opv2v", env=env)
    assert done.returncode == 4
    assert ("Traceback" in done.stderr) == requested
    assert "KeyError" in done.stderr


@pytest.mark.parametrize("field", ["uav_walkers_spawned", "uav_vehicles_asked"])
def test_log_without_a_traffic_count_is_not_compared(tiny_copy: Path, field: str) -> None:
    edit_table(tiny_copy, "log", lambda rows: [row.pop(field) for row in rows])
    assert "coverage.spawned" not in validate_version(tiny_copy, "v1.0-mini", workers=1).counts


def test_bad_rotation_of_a_box_without_sample_is_reported(tiny_copy: Path) -> None:
    edit_first(tiny_copy, "sample_annotation", sample_token="", rotation=[0.5, 0, 0, 0])
    assert validate_version(tiny_copy, "v1.0-mini", workers=1).counts["shape.rotation"] == 1


@pytest.mark.parametrize(("command", "option"), [("export", "--format=opv2v"), ("convert", "--dialect=uav3d")])
@pytest.mark.parametrize("out", ["", "new/below", "../linked"])
def test_result_inside_its_own_dataset_is_refused(
    tiny_copy: Path, tmp_path: Path, command: str, option: str, out: str
) -> None:
    (tmp_path / "linked").symlink_to(tiny_copy)
    before = {path: path.stat().st_mtime_ns for path in tiny_copy.rglob("*")}
    done = uavsim(command, tiny_copy, tiny_copy / out, option)
    assert done.returncode == 2
    assert "dataset itself" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in tiny_copy.rglob("*")} == before
