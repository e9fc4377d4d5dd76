import struct

import numpy as np
import pytest

from uavsim.errors import DatasetError
from uavsim.images import points


def test_one_point_is_twenty_bytes_in_nuscenes_order() -> None:
    returns = np.zeros(1, points.RETURN)
    returns["flu_m"], returns["intensity"], returns["ring"], returns["actor"] = (1.5, -2.0, 3.25), 7.0, 31, 9
    data = points.encode_points(points.cloud_of(returns))
    assert data == struct.pack("<5f", 1.5, -2.0, 3.25, 7.0, 31.0)
    assert points.decode_points(data).tolist() == [[1.5, -2.0, 3.25, 7.0, 31.0]]


def test_owners_are_two_words_a_point() -> None:
    data = points.encode_owners(np.array([[65535, 14], [0, 1]]))
    assert data == struct.pack("<4H", 65535, 14, 0, 1)
    assert points.decode_owners(data).tolist() == [[65535, 14], [0, 1]]


def test_empty_cloud_is_an_empty_file() -> None:
    assert points.encode_points(np.zeros((0, 5))) == b""
    assert points.decode_points(b"").shape == (0, 5)
    assert points.decode_owners(b"").shape == (0, 2)


def test_partial_point_is_refused() -> None:
    with pytest.raises(DatasetError, match="not a whole number of points"):
        points.decode_points(b"\0" * 21)


def test_rings_count_from_the_lowest_beam() -> None:
    """Three beams at -90, -60 and -30 degrees hit points straight down, forward and left."""
    flu_m = np.array([[0, 0, -5], [1, 0, -np.sqrt(3)], [0, np.sqrt(3), -1]])
    assert points.rings(flu_m, lower_deg=-90, upper_deg=-30, channels=3).tolist() == [0, 1, 2]
