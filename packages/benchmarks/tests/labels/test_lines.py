"""Rows as JSON lines, including third-party values."""

import json

import pytest

from uavsim_benchmarks.labels.lines import json_line


@pytest.mark.parametrize(
    "row", [{"type": "car", "px": 3, "share": 0.1}, {"type": "caf\u00e9"}, {"type": "half \ud800"}, {"n": 2**70}]
)
def test_every_row_is_one_line_that_reads_back(row: dict) -> None:
    line = json_line(row)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == row
