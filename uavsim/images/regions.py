"""Image regions that show a road user without a box, such as a car that is part of a town's mesh."""

from typing import Final

import cv2
import numpy as np

from uavsim.images.mask_pixels import Int32Array, Runs, filled
from uavsim.typing import IntArray

ROAD_USER_TAGS: Final = (12, 13, 14, 15, 16, 18, 19)  # pedestrian, rider, car, truck, bus, motorcycle, bicycle
IS_ROAD_USER: Final = np.isin(np.arange(256), ROAD_USER_TAGS)


def unlabelled_regions(runs: Runs, row_of_id: Int32Array) -> IntArray:
    """Return the bounds of connected pixels with a road user's tag and an id without a box.

    Args:
        runs: (R, 5) runs of a mask, at least those of all road users.
        row_of_id: (65536,) int32 row of the box of every id; -1 for an id without a box.

    Returns:
        (K, 6) int64 x_min, y_min, x_max, y_max (pixel edges), number of pixels, semantic tag; by tag, then from the top.
    """
    runs = runs[(row_of_id[runs[:, 3]] < 0) & IS_ROAD_USER[runs[:, 4]]]
    if not len(runs):
        return np.zeros((0, 6), np.int64)
    found = [_components(runs[runs[:, 4] == tag]) for tag in np.unique(runs[:, 4]).tolist()]
    return np.concatenate(found)


def _components(runs: IntArray) -> IntArray:
    """Return the regions of runs of one tag."""
    (top, left), (bottom, right) = runs[:, [0, 1]].min(axis=0), runs[:, [0, 2]].max(axis=0)
    shifted = runs - [top, left, left, 0, 0]
    shifted[:, 3] = 1
    inside = filled(shifted, (bottom - top + 1, right - left))
    count, _, stats, _ = cv2.connectedComponentsWithStats(inside.astype(np.uint8), connectivity=8)
    x, y, width, height, pixels = stats[1:].astype(np.int64).T
    tag = np.full(count - 1, runs[0, 4])
    return np.stack([left + x, top + y, left + x + width, top + y + height, pixels, tag], axis=1)
