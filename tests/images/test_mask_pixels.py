"""Counts in masks, against numpy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from uavsim.images import codec, mask_pixels

SHAPE = (7, 11)
IDS = arrays.arrays(np.uint16, SHAPE, elements=st.sampled_from([0, 0, 1, 2, 300, 65535]))
TAGS = arrays.arrays(np.uint8, SHAPE, elements=st.sampled_from([1, 14, 255]))
VEHICLES = np.isin(np.arange(256), [14, 255])


@given(ids=IDS)
def test_extents(ids: np.ndarray):
    found, measured = mask_pixels.extents(ids)
    assert found.tolist() == [i for i in np.unique(ids).tolist() if i]
    for number, row in zip(found.tolist(), measured.tolist(), strict=True):
        lines, columns = np.nonzero(ids == number)
        assert row == [len(lines), columns.min(), lines.min(), columns.max() + 1, lines.max() + 1]


@given(ids=IDS, tags=TAGS)
def test_moments(ids: np.ndarray, tags: np.ndarray):
    found, sums = mask_pixels.moments(ids, tags, VEHICLES)
    counted = VEHICLES[tags]
    assert found.tolist() == np.unique(ids[counted]).tolist()
    for number, row in zip(found.tolist(), sums.tolist(), strict=True):
        v, u = np.nonzero(counted & (ids == number))
        assert row == [len(u), u.sum(), v.sum(), (u * u).sum(), (v * v).sum(), tags[v, u].astype(int).sum()]


def test_a_mask_of_nothing():
    nothing = np.zeros(SHAPE, np.uint16)
    assert [len(found) for found in mask_pixels.extents(nothing)] == [0, 0]
    assert [len(found) for found in mask_pixels.moments(nothing, nothing.astype(np.uint8), VEHICLES)] == [0, 0]


def test_translation_looks_up_every_pixel():
    table = np.zeros(65536, np.uint16)
    table[[7, 65535]] = 1, 2
    assert mask_pixels.translated(np.array([[0, 7, 65535, 8]], np.uint16), table).tolist() == [[0, 1, 2, 0]]


@given(arrays.arrays(np.uint16, (7, 9)), arrays.arrays(np.uint8, (7, 9)))
def test_a_mask_file_is_what_the_codec_makes(ids: np.ndarray, tags: np.ndarray):
    for level in (0, 1, 2):
        assert mask_pixels.encode(ids, tags, level=level) == codec.encode_mask_ids(ids, tags, level=level)


@given(arrays.arrays(np.uint8, (5, 6, 4)))
def test_ids_are_256_blue_and_green_and_tags_are_red(bgra: np.ndarray):
    """Of whole pixels, of three channels of them, and of pixels that lie apart."""
    blue, green, red, _ = np.moveaxis(bgra, 2, 0).astype(int)
    for pixels, part in ((bgra, np.s_[:]), (bgra[..., :3], np.s_[:]), (bgra[:, ::2], np.s_[:, ::2])):
        ids, tags = mask_pixels.split(pixels)
        np.testing.assert_array_equal(ids, (256 * blue + green)[part])
        np.testing.assert_array_equal(tags, red[part])


@given(arrays.arrays(np.uint16, (7, 9)), arrays.arrays(np.uint8, (7, 9)))
def test_a_mask_file_is_read_as_the_codec_reads_it(ids: np.ndarray, tags: np.ndarray):
    ours = codec.encode_mask_ids(ids, tags)
    for data in (ours, codec.encode_mask_ids(ids, tags, level=5)):
        found = mask_pixels.decode(data)
        np.testing.assert_array_equal(found[0], ids)
        np.testing.assert_array_equal(found[1], tags)
