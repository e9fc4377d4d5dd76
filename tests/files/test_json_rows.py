"""Rows of a table do not depend on the layout of its JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uavsim.errors import DatasetError
from uavsim.files import json_rows

VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.none(),
    st.lists(st.floats(0, 1), max_size=3),
)
ROWS = st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=6)


def in_lines(rows: list[Any], *, ascii_only: bool = True) -> str:
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows) + "\n]\n"


def layouts(rows: list[Any]) -> dict[str, str]:
    return {
        "in lines": in_lines(rows),
        "in letters of every script": in_lines(rows, ascii_only=False),
        "in one line": json.dumps(rows),
        "indented": json.dumps(rows, indent=1) + "\n",
        "first one in a line of its own": in_lines(rows[:1]).removesuffix("\n]\n")
        + "".join(f",{json.dumps(r)}" for r in rows[1:])
        + "]",
    }


def read(folder: Path, text: str) -> list[Any]:
    path = folder / "sample.json"
    path.write_text(text, encoding="utf-8")
    return list(json_rows.rows_of(path.open("rb"), name="sample.json"))


@pytest.mark.parametrize("block", [1 << 16, 40])
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_rows_are_the_same_in_every_layout(tmp_path: Path, block: int, rows: list[Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_rows, "_BLOCK_CHARACTERS", block)
        for text in layouts(rows).values():
            assert read(tmp_path, text) == rows


@pytest.mark.parametrize(
    "text",
    [
        '[\n{"a":1},\n2\n]\n',
        '[\n{"a":1},\n{"b":\n',
        "{}\n",
        "",
        '[\n{"a":1}\n',
        "[\n\n",
        '[\n{"a":1}\n]\nrest\n',
        '[\n{"a":1},\n]\n',
        '[\n,{"a":1}\n]\n',
        '[\n{"a":1},,\n{"b":1}\n]\n',
        '[\n{"a":1}\n{"b":1}\n]\n',
        "[]]",
    ],
)
def test_invalid_table_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DatasetError, match=r"sample\.json"):
        read(tmp_path, text)


@pytest.mark.timeout(60)
def test_short_rows_behind_a_long_one_take_linear_time(tmp_path: Path) -> None:
    rows: list[Any] = [{"a": "x" * 3_000_000}, *[{}] * 500_000]
    assert read(tmp_path, json.dumps(rows)) == rows
