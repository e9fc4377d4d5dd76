import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays
from hypothesis.strategies import floats

from uavsim.errors import DatasetError
from uavsim.images.flow import decode_flow, encode_flow


def test_two_pixels_by_hand() -> None:
    """One row of two pixels: the left one went 1.5 right and 2 up, the right one is unknown."""
    data = encode_flow(np.array([[[1.5, -2.0], [np.nan, np.nan]]], np.float32))
    assert data == b"PIEH" + struct.pack("<ii4f", 2, 1, 1.5, -2.0, 1e10, 1e10)
    back = decode_flow(data)
    assert back[0, 0].tolist() == [1.5, -2.0]
    assert np.isnan(back[0, 1]).all()


@given(arrays.arrays(np.float32, (3, 5, 2), elements=floats(-800, 800, width=32)))
def test_flow_round_trip_is_exact(flow_px: np.ndarray) -> None:
    np.testing.assert_array_equal(decode_flow(encode_flow(flow_px)), flow_px)


@pytest.mark.parametrize("cut", [1, 8])
def test_truncated_file_is_refused(cut: int) -> None:
    with pytest.raises(DatasetError, match="not a complete"):
        decode_flow(encode_flow(np.zeros((2, 2, 2), np.float32))[:-cut])
    with pytest.raises(DatasetError, match="not a complete"):
        decode_flow(b"PIEH")
