"""Rows as Python's JSON encoder writes them, and the file names of scenes flown again."""

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uavsim.dataset.fragment import Fragment, in_generation, json_row

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(-1e-3, 1e-3),
        st.text(),
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
ROWS = st.dictionaries(st.sampled_from(["token", "visible_box", "uav_removed_at_sample", "rotation"]), VALUES)


@given(row=ROWS)
@example(
    row={
        "small": [1e-4, 1e-5, -2.5e-5, 1e-6, 1e-7, 1.5e-10, -1.3e-17, 5e-324, -0.0],
        "large": [1e15, 1e16, 1e22, 2**63, 2**70],
    }
)
@example(row={"visible_box": None, "words": 'close-by e-1 null 0.00001 \x7f é \U0001f681 \u2028 \n " \\ /'})
def test_a_row_is_as_python_writes_it(row: dict[str, Any]) -> None:
    assert json_row(row) == json.dumps(row, separators=(",", ":")).encode("ascii")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [1.0, math.nan]])
def test_nonfinite_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_row({"visible_box": None, "occlusion": value})


def fragment(head: Any) -> Fragment:
    return Fragment(
        head=head,
        rows={
            "sample_data": [{"token": "a", "filename": "samples/C/s__C__1.png"}],
            "layer": [{"token": "b", "filename": "masks/C/s__C__1.png"}],
            "sample": [{"token": "c", "timestamp": 1}],
        },
    )


def test_the_first_flight_is_as_it_is() -> None:
    made = fragment(None)
    assert in_generation(made, 0) is made


def test_generation_two_marks_file_names_only() -> None:
    made = fragment(None)
    again = in_generation(made, 2)
    assert [row["filename"] for rows in again.rows.values() for row in rows if "filename" in row] == [
        "samples/C/s__C__1~2.png",
        "masks/C/s__C__1~2.png",
    ]
    assert again.rows["sample"] == made.rows["sample"]
    assert made.rows["layer"][0]["filename"] == "masks/C/s__C__1.png"
