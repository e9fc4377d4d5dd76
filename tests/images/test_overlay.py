"""Images for viewers: limited width, one colour per object, transparent ground, closed outlines."""

import cv2
import numpy as np
import pytest

from uavsim.images.overlay import coloured_mask, outlines, small_jpeg


def decoded(data: bytes) -> np.ndarray:
    return np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED))


@pytest.mark.parametrize(("width_px", "expected"), [(20, (15, 20, 3)), (80, (30, 40, 3))])
def test_small_jpeg_never_enlarges(width_px: int, expected: tuple[int, ...]) -> None:
    assert decoded(small_jpeg(np.zeros((30, 40, 3), np.uint8), width_px=width_px, quality=80)).shape == expected


def test_objects_have_distinct_colours_on_transparent_ground() -> None:
    ids = np.array([[0, 1, 1], [0, 2, 65535]], dtype=np.uint16)
    bgra = decoded(coloured_mask(ids, width_px=3))
    assert bgra[..., 3].tolist() == [[0, 255, 255], [0, 255, 255]]
    assert bgra[0, 1].tolist() == bgra[0, 2].tolist()
    assert len({tuple(pixel) for pixel in bgra[ids > 0].tolist()}) == 3


def test_smaller_mask_mixes_no_ids() -> None:
    ids = np.zeros((8, 8), dtype=np.uint16)
    ids[:, 4:] = 9
    small = decoded(coloured_mask(ids, width_px=4))
    assert small.shape == (4, 4, 4)
    assert len({tuple(pixel) for pixel in small.reshape(-1, 4).tolist()}) == 2  # nearest: no mixture of two objects


def test_outlines_surround_areas_and_holes() -> None:
    area = np.zeros((12, 12), dtype=bool)
    area[1:10, 1:10] = True
    area[4:7, 4:7] = False
    found = outlines(area)
    assert len(found) == 2
    assert all(np.array_equal(line[0], line[-1]) for line in found)
    outer = max(found, key=lambda line: float(np.ptp(line[:, 0])))
    assert (outer.min(), outer.max()) == (1.5, 9.5)  # centres of the outermost pixels


def test_a_single_pixel_has_no_outline() -> None:
    area = np.zeros((5, 5), dtype=bool)
    area[2, 2] = True
    assert outlines(area) == []
