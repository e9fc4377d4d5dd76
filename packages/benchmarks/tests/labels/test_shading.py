import math

import numpy as np

from uavsim_benchmarks.labels.shading import shaded_shares

ROAD, BUILDING = 1, 3


def test_ground_in_shadow_is_distinguished_from_ground_in_the_sun() -> None:
    luminance = np.full((80, 120), 160, np.uint8)
    luminance[:, 80:] = 70  # a shadow over the right third
    tags = np.full((80, 120), ROAD, np.uint8)
    ids = np.zeros((80, 120), np.uint16)
    boxes = np.array([[20, 30, 32, 40], [96, 30, 108, 40], [76, 30, 84, 40], [0, 0, 2, 2]])
    for number, (x0, y0, x1, y1) in enumerate(boxes[:3]):
        ids[y0:y1, x0:x1] = number + 1
    tags[:8, :8] = BUILDING
    sun, shadow, border, on_a_roof = shaded_shares(luminance, ids, tags, boxes_px=boxes, shade=0.7)
    assert (sun, shadow) == (0.0, 1.0)
    assert 0.3 < border < 0.7
    assert math.isnan(on_a_roof)


def test_an_image_in_one_light_says_nothing_of_shadow() -> None:
    dark = np.full((60, 60), 40, np.uint8)
    share = shaded_shares(
        dark,
        np.zeros((60, 60), np.uint16),
        np.full((60, 60), ROAD, np.uint8),
        boxes_px=np.array([[20, 20, 30, 30]]),
        shade=0.7,
    )
    assert share.tolist() == [0.0]
