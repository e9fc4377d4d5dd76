"""Labels near the size limit: one rule by hand, and stable labels of an approaching aeroplane."""

import numpy as np
import pytest

from uavsim.ingredients.intruders.labels import HIDDEN, UNDECIDED, VISIBLE, aot_boxes, labelled_images

AOT, QUARTER = (2448, 2048), (612, 512)


def boxes(lengths_px: list[float], size_px: tuple[int, int]) -> np.ndarray:
    body = np.array([[length, length / 2] for length in lengths_px])
    mask = np.tile([1.0, 2.0, 3.0, 4.0], (len(body), 1))
    return aot_boxes(mask, np.full((len(body), 2), 200.0), body, size_px=size_px)


@pytest.mark.parametrize(
    ("length_px", "size_px", "box"),
    [
        (5.0, AOT, [197, 197, 6, 6]),
        (10.0, AOT, [192, 192, 16, 16]),
        (30.0, AOT, [1, 2, 3, 4]),
        (1.4, QUARTER, [199.25, 199.25, 1.5, 1.5]),
        (3.0, QUARTER, [198, 198, 4, 4]),
        (10.0, QUARTER, [195, 197.5, 10, 5]),
        (30.0, QUARTER, [1, 2, 3, 4]),
    ],
)
def test_boxes_are_as_aots_people_drew_them_at_any_resolution(
    length_px: float, size_px: tuple[int, int], box: list[float]
) -> None:
    assert boxes([length_px], size_px).tolist() == [box]


def test_a_length_that_trembles_around_a_limit_changes_nothing() -> None:
    assert boxes([5.5, 6.4, 5.6, 7.1, 7.3, 6.1, 5.1, 4.9], AOT)[:, 2].tolist() == [6, 6, 6, 6, 16, 16, 16, 6]
    assert boxes([15.0, 17.0, 15.0, 19.1, 19.3, 14.0, 13.0], AOT)[:, 2].tolist() == [16, 16, 16, 16, 3, 3, 16]


def test_a_square_stays_around_the_middle_inside_the_image() -> None:
    made = aot_boxes(np.zeros((1, 4)), np.array([[-3.0, 600.0]]), np.full((1, 2), 2.0), size_px=QUARTER)
    assert made.tolist() == [[-2.0, 510.0, 4.0, 4.0]]


def test_undecided_images_keep_the_last_label() -> None:
    states = np.array([UNDECIDED, VISIBLE, UNDECIDED, UNDECIDED, HIDDEN, UNDECIDED, VISIBLE])
    assert labelled_images(states).tolist() == [True, True, True, True, False, False, True]
    assert not labelled_images(np.array([UNDECIDED, UNDECIDED])).any()
    assert labelled_images(np.zeros(0, dtype=np.int64)).tolist() == []
