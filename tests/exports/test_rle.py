import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from uavsim.errors import DatasetError
from uavsim.exports.formats.rle import decode_rle, encode_rle

MASKS = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(lambda shape: hnp.arrays(bool, shape))


@settings(max_examples=200, deadline=None)
@given(MASKS)
def test_there_and_back(mask: np.ndarray) -> None:
    np.testing.assert_array_equal(decode_rle(encode_rle(mask)), mask)


@settings(max_examples=100, deadline=None)
@given(MASKS, st.integers(0, 5), st.integers(0, 5), st.integers(0, 3), st.integers(0, 3))
def test_a_cut_out_is_the_same_as_the_whole(mask: np.ndarray, x: int, y: int, right: int, below: int) -> None:
    h, w = mask.shape
    whole = np.zeros((y + h + below, x + w + right), bool)
    whole[y : y + h, x : x + w] = mask
    assert encode_rle(mask, at_px=(x, y), size_px=(whole.shape[1], whole.shape[0])) == encode_rle(whole)


def test_text_is_cocos() -> None:
    # columns first: 0 1 | 1 1 | 0 0 of a 2x3 mask: runs 1, 3, 2; each below 16, so one character each, moved up by 48
    mask = np.array([[0, 1, 0], [1, 1, 0]], bool)
    assert encode_rle(mask) == {"size": [2, 3], "counts": "132"}
    # 100 = 3 * 32 + 4: low five bits 4 with "more" (4 + 32 + 48 = 'T'), then 3 ('3')
    assert encode_rle(np.zeros((10, 10), bool))["counts"] == "T3"


def test_runs_that_do_not_fill_the_image_are_reported() -> None:
    with pytest.raises(DatasetError, match="runs of"):
        decode_rle({"size": [2, 2], "counts": "12"})
