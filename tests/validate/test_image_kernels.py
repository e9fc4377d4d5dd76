"""Pixel counts of the validator, by hand and against numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from uavsim.images import codec
from uavsim.validate.image_kernels import (
    border_pairs,
    border_steps,
    count_instances,
    count_levels,
    count_unlabelled,
    green_of_rows,
    ids_of_mask,
    ids_of_rows,
)

RGB = arrays.arrays(np.uint8, (5, 7, 3))
IDS = arrays.arrays(np.uint16, (6, 9), elements=st.sampled_from([0, 1, 9, 257, 65535]))


def test_ids_are_green_and_256_blue():
    assert ids_of_mask(np.array([[[14, 0x34, 0x12], [12, 255, 0]]], np.uint8)).tolist() == [[0x1234, 255]]


@given(rgb=RGB)
def test_green_of_rows_is_the_green_of_the_decoded_image(rgb: np.ndarray):
    rows = codec.filtered_rows(codec.encode_png(rgb, filter_rows="sub"))
    assert rows is not None
    assert np.array_equal(green_of_rows(rows[0]), rgb[..., 1])


@given(mask=RGB)
def test_ids_of_rows_are_those_of_the_decoded_mask(mask: np.ndarray):
    rows = codec.filtered_rows(codec.encode_mask(mask))
    assert rows is not None
    ids, tags = ids_of_rows(rows[0])
    assert np.array_equal(ids, ids_of_mask(mask))
    assert np.array_equal(tags, mask[..., 0])


@given(ids=IDS)
def test_borders(ids: np.ndarray):
    numbers = np.arange(ids.size).reshape(ids.shape)
    expected = set()
    for one, other in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
        differ = ids[one] != ids[other]
        expected |= set(zip(numbers[one][differ].tolist(), numbers[other][differ].tolist(), strict=True))
    first, second = border_pairs(ids)
    assert len(first) == len(expected)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == expected


def test_steps_on_paper():
    luma = np.array([10, 10, 50, 50, 60], np.uint8)  # the border lies between the second and the third
    here, beside = border_steps(luma, np.array([1]), np.array([2]), np.array([-1, 1, 2, 9]))
    assert (here, beside) == (40, (0 + 0 + 10) / 3)  # the last move leaves the image


def test_pixels_inside_and_outside_of_their_box():
    """A box of 2 x 2 m, 10 m ahead, is 20 x 20 px at a focal length of 100 px: columns 40 to 59, lines 20 to 39."""
    ids = np.zeros((60, 100), np.uint16)
    ids[20:40, 40:60] = 7
    ids[0, 3] = 7  # far from it
    ids[5, 5] = 8  # without a box
    box_of_id = np.full(65536, -1, np.int64)
    box_of_id[7] = 1
    boxes, strays = count_instances(
        ids,
        box_of_id,
        np.tile(np.eye(3), (2, 1, 1)),
        np.array([[0.0, 0, 0], [0.0, 0, -10.0]]),
        np.array([[1.0, 1, 1], [1.0, 1, 1e-6]]),
        np.array([[100.0, 0, 50], [0, 100.0, 30], [0, 0, 1]]),
        np.zeros((0, 0, 2)),
    )
    assert boxes[0].tolist() == [0] * 11
    assert boxes[1].tolist() == [401, 400, 3, 0, 3, 1, 59, 39, 98, 39, 3]
    assert np.flatnonzero(strays).tolist() == [8]


@given(luma=arrays.arrays(np.uint8, (5, 7)))
def test_levels_of_every_third_pixel(luma: np.ndarray):
    assert np.array_equal(count_levels(luma), np.bincount(luma[::3, ::3].ravel(), minlength=256))


@given(ids=IDS, tag_of=st.lists(st.sampled_from([0, 9, 14, 18]), min_size=6, max_size=6))
def test_road_users_without_a_box_are_counted_outside_of_the_regions(ids: np.ndarray, tag_of: list[int]):
    tags = np.array(tag_of, np.uint8)[ids % 6]  # 14 and 18 count
    box_of_id = np.full(65536, -1)
    box_of_id[[1, 9]] = 0
    regions = np.array([[2, 1, 30, 3], [5, 0, 6, 9]])
    free = np.ones(ids.shape, bool)
    free[1:3, 2:30] = free[0:9, 5:6] = False
    expected = free & np.isin(tags, (14, 18)) & ~np.isin(ids, (1, 9))
    counted = np.isin(np.arange(256), (14, 18))
    assert count_unlabelled(ids, tags, box_of_id, counted, regions) == expected.sum()
