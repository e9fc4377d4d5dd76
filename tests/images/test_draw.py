import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim.images import draw

WHITE = (255, 255, 255)


def blank() -> np.ndarray:
    return np.zeros((40, 60, 3), np.uint8)


def test_overlapping_polygons_stay_filled() -> None:
    canvas = blank()
    square = np.array([[5, 5], [20, 5], [20, 20], [5, 20]])
    draw.draw_polygons(canvas, [square, square + 5], colour=(0, 200, 0))
    assert canvas[12, 12].tolist() == [0, 200, 0]


def test_nan_points_are_skipped_and_far_points_clipped() -> None:
    canvas = blank()
    draw.draw_segments(canvas, np.array([[[0, 0], [np.nan, 5]]]), colour=WHITE)
    assert canvas.max() == 0
    draw.draw_segments(canvas, np.array([[[0, 20.0], [1e9, 20.0]]]), colour=WHITE)
    assert canvas[20].min() > 100


def test_boxes_circles_text_and_tint_change_pixels() -> None:
    canvas = blank()
    corners = np.array([[[10, 10], [20, 10], [20, 20], [10, 20], [13, 7], [23, 7], [23, 17], [13, 17.0]]])
    draw.draw_boxes_3d(canvas, corners, colours=[(255, 0, 0)])
    assert canvas[10, 15].tolist()[1:] == [0, 0]
    assert canvas[10, 15, 0] > 200
    draw.draw_circles(canvas, np.array([[40.0, 20.0]]), radius_px=3, colour=(0, 0, 255))
    assert canvas[20, 40].tolist() == [0, 0, 255]
    before = int(canvas.sum())
    draw.draw_text(canvas, "car", (2, 38), background=(9, 9, 9))
    assert int(canvas.sum()) > before
    where = np.zeros((40, 60), bool)
    where[30, 50] = True
    assert draw.tinted(canvas, where, colour=(200, 100, 0), strength=0.5)[30, 50].tolist() == [100, 50, 0]


def test_palette_is_stable_and_distinct() -> None:
    assert len(set(draw.palette(30))) == 30
    assert draw.palette(30)[:5] == draw.palette(5)
    assert draw.palette(0) == []


def test_contact_sheet_lays_out_row_by_row() -> None:
    images = [np.full((10, 20, 3), 50 * i, np.uint8) for i in range(1, 6)]
    sheet = draw.contact_sheet(images, columns=3, tile_width_px=20, gap_px=2)
    assert sheet.shape == (2 * 12 + 2, 3 * 22 + 2, 3)
    assert sheet[5, 5, 0] == 50
    assert sheet[5, 2 + 22 + 3, 0] == 100
    assert sheet[12 + 5, 5, 0] == 200
    with pytest.raises(InputError, match="caption"):
        draw.contact_sheet(images, columns=3, tile_width_px=20, captions=["one"])
