import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from uavsim.exports.formats.rle import encode_rle
from uavsim.typing import BoolArray, JsonDict

MASKS = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(lambda shape: hnp.arrays(bool, shape))


def decode_rle(encoded: JsonDict) -> BoolArray:
    """Decode to an (H, W) mask like COCO's ``rleFrString``, one character at a time."""
    runs: list[int] = []
    characters = iter(encoded["counts"].encode())
    for first in characters:
        bits, shift, character = 0, 0, first
        while True:
            code = character - 48
            bits |= (code & 31) << shift
            shift += 5
            if not code & 32:
                break
            character = next(characters)
        value = bits - (1 << shift) if code & 16 else bits
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
    height, width = encoded["size"]
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(width, height).T


@settings(max_examples=200, deadline=None)
@given(MASKS)
def test_decoded_mask_equals_the_mask(mask: np.ndarray) -> None:
    np.testing.assert_array_equal(decode_rle(encode_rle(mask)), mask)


@settings(max_examples=100, deadline=None)
@given(MASKS, st.integers(0, 5), st.integers(0, 5), st.integers(0, 3), st.integers(0, 3))
def test_cut_out_encodes_as_the_whole_mask(mask: np.ndarray, x: int, y: int, right: int, below: int) -> None:
    h, w = mask.shape
    full_mask = np.zeros((y + h + below, x + w + right), bool)
    full_mask[y : y + h, x : x + w] = mask
    assert encode_rle(mask, at_px=(x, y), size_px=(full_mask.shape[1], full_mask.shape[0])) == encode_rle(full_mask)


def test_text_is_cocos() -> None:
    # columns first: 0 1 | 1 1 | 0 0 of a 2x3 mask: runs 1, 3, 2; each below 16, so one character each, plus 48
    mask = np.array([[0, 1, 0], [1, 1, 0]], bool)
    assert encode_rle(mask) == {"size": [2, 3], "counts": "132"}
    # 100 = 3 * 32 + 4: low five bits 4 with "more" (4 + 32 + 48 = 'T'), then 3 ('3')
    assert encode_rle(np.zeros((10, 10), bool))["counts"] == "T3"
