"""North is up and east is right."""

import numpy as np

from uavsim.plan.sheet import Sheet, blank


def test_a_point_lies_where_it_is_read() -> None:
    canvas = blank(80, 60, colour=(1, 2, 3))
    sheet = Sheet(canvas, left_m=100.0, top_m=50.0, px_per_m=2.0, corner_px=(10.0, 5.0))

    assert canvas.shape == (60, 80, 3)
    assert canvas[59, 79].tolist() == [1, 2, 3]
    np.testing.assert_allclose(sheet.px(np.array([[100.0, 50.0, 7.0], [103.0, 49.0, 7.0]])), [[10, 5], [16, 7]])
