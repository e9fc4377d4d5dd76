"""All encoders write a row as Python's JSON encoder does."""

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uavsim.dataset.fragment import json_row

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
