import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.errors import DatasetError
from uavsim.images.events import EVENT, decode_events, encode_events

RECORDS = st.lists(
    st.tuples(st.integers(0, 65535), st.integers(0, 65535), st.integers(-(2**62), 2**62), st.integers(0, 1))
)


def test_one_event_by_hand() -> None:
    """Column 3, row 1, two nanoseconds before its image, brighter: 13 bytes after the head."""
    data = encode_events(np.array([(3, 1, -2, 1)], EVENT))
    assert data[-13:] == b"\x03\x00\x01\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x01"


@given(RECORDS)
def test_events_round_trip(records: list[tuple[int, int, int, int]]) -> None:
    events = np.array(records, EVENT)
    np.testing.assert_array_equal(decode_events(encode_events(events)), events)


def test_numpy_reads_the_file() -> None:
    events = np.array([(3, 1, -2, 1), (4, 4, 0, 0)], EVENT)
    np.testing.assert_array_equal(np.load(io.BytesIO(encode_events(events)), allow_pickle=False), events)


def test_wrong_counts_and_damaged_headers_are_refused() -> None:
    data = encode_events(np.zeros(2, EVENT))
    for wrong in (data[:-1], data[:-13], data.replace(b"(2,)", b"(9,)"), b"", data[:20], np.zeros(3).tobytes()):
        with pytest.raises(DatasetError, match="not a complete event file"):
            decode_events(wrong)
