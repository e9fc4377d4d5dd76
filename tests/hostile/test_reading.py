"""Unreadable files: one line that locates the error, and a traceback on request."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.command import uavsim
from tests.hostile.datasets import edit_first, edit_table
from uavsim.dataset.fragment import open_fragment
from uavsim.errors import DatasetError
from uavsim.records.codec import unpack_plan
from uavsim.validate import validate_version


@pytest.mark.parametrize(("data", "reason"), [(b"\x91" * 2000, "StackError"), (b"\xc1", "FormatError")])
@pytest.mark.parametrize("read", [unpack_plan, open_fragment])
def test_msgpack_exception_without_message_is_named(read: Callable[[bytes], object], data: bytes, reason: str) -> None:
    with pytest.raises(DatasetError, match=f": {reason}$"):
        read(data)


@pytest.mark.parametrize("requested", [True, False])
def test_traceback_is_printed_on_request(tiny_copy: Path, tmp_path: Path, requested: bool) -> None:
    edit_table(tiny_copy, "sample_data", lambda rows: rows[0].pop("calibrated_sensor_token"))
    env = os.environ | ({"UAVSIM_TRACEBACK": "1"} if requested else {})
    done = uavsim("export", tiny_copy, tmp_path / "out", "--format", "opv2v", env=env)
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
