"""Mask ids of the town's parked vehicles: what one view contradicts is never believed again.

A town's vehicle stands still, and all pixels of it lie within its projected box, hidden in part or not. Of all boxes that no
view contradicts, a mask id has one left once it was seen from a side or from above. It is bound when half of it has also been
seen: a sliver of a vehicle that the simulator does not list may lie within another's box. Whoever stays in doubt is nobody.
"""

from typing import Final

import numpy as np

from uavsim.geometry import pinhole
from uavsim.typing import BoolArray, FloatArray, IntArray

_NEAR_M: Final = 0.1
_EDGES: Final = np.array([(n, 4 * (n // 4) + (n + 1) % 4) for n in range(8)] + [(n, n + 4) for n in range(4)])
"""Of a box, by the order of ``cuboid.corners``."""
_SLACK_PX: Final = 3.0
_SLACK_SHARE: Final = 0.02  # of a box's width and height: meshes stand out of their boxes
_WHOLE: Final = 0.5  # of what an image holds of a box's width and height, that the pixels take up
_IN_IMAGE: Final = 0.25  # of a box's width and height, that the image has to hold


class Elimination:
    """Holds, for each mask id, which boxes it may still be."""

    def __init__(self, semantic_tags: IntArray) -> None:
        """Begin with all boxes possible for every id.

        Args:
            semantic_tags: (N,) of the boxes; 0 where any is possible.
        """
        self._tags = semantic_tags
        self._possible: dict[int, BoolArray] = {}
        self._whole: dict[int, BoolArray] = {}

    def add(
        self,
        ids: IntArray,
        tags: IntArray,
        *,
        extents_px: IntArray,
        rectangles_px: FloatArray,
        image_px: tuple[int, int],
    ) -> None:
        """Take one view into account.

        Args:
            ids: (K,) mask ids.
            tags: (K,) semantic tags of their pixels.
            extents_px: (K, 4) x_min, y_min, x_max, y_max of their pixels, pixel edges.
            rectangles_px: (N, 4) of ``seen_bounds``.
            image_px: width and height of the image.
        """
        size_px = rectangles_px[:, 2:] - rectangles_px[:, :2]
        held_px = np.minimum(rectangles_px[:, 2:], image_px) - np.maximum(rectangles_px[:, :2], 0)
        least_px = np.where(held_px >= _IN_IMAGE * size_px, _WHOLE * held_px, np.inf)
        slack_px = _SLACK_PX + _SLACK_SHARE * np.minimum(size_px, image_px)
        extent, rectangle = extents_px[:, None, :], rectangles_px[None]
        outside = (extent[..., :2] < rectangle[..., :2] - slack_px) | (extent[..., 2:] > rectangle[..., 2:] + slack_px)
        inside = ~outside.any(axis=-1) & ((self._tags == 0) | (self._tags == tags[:, None]))
        whole = inside & (extent[..., 2:] - extent[..., :2] >= least_px).all(axis=-1)
        for number, own, is_whole in zip(ids.tolist(), inside, whole, strict=True):
            self._possible[number] = own & self._possible.get(number, True)
            self._whole[number] = is_whole | self._whole.get(number, False)

    def bound(self) -> dict[int, int]:
        """Return the row of the box of each mask id that is sure; a box that two of them claim is neither's."""
        sure: dict[int, int] = {}
        for number, possible in self._possible.items():
            row = int(possible.argmax())
            if possible.sum() == 1 and self._whole[number][row]:
                sure[number] = row
        claims = np.bincount(list(sure.values()), minlength=len(self._tags))
        return {number: row for number, row in sure.items() if claims[row] == 1}


def seen_bounds(corners_optical_m: FloatArray, intrinsic: FloatArray) -> FloatArray:
    """Return (N, 4) x_min, y_min, x_max, y_max of the projected parts of boxes in front of the camera; of none, inf and -inf.

    Args:
        corners_optical_m: (N, 8, 3) in the order of ``cuboid.corners``.
        intrinsic: (3, 3).
    """
    begin, end = corners_optical_m[:, _EDGES[:, 0]], corners_optical_m[:, _EDGES[:, 1]]
    rise_m = end[..., 2:] - begin[..., 2:]
    cut = begin + (end - begin) * (_NEAR_M - begin[..., 2:]) / np.where(rise_m == 0.0, 1.0, rise_m)
    crosses = (begin[..., 2] < _NEAR_M) != (end[..., 2] < _NEAR_M)
    points = np.concatenate([corners_optical_m, cut], axis=1)
    there = np.concatenate([corners_optical_m[..., 2] >= _NEAR_M, crosses], axis=1)[..., None]
    pixels = pinhole.project(points, intrinsic=intrinsic)
    low, high = np.where(there, pixels, np.inf).min(axis=1), np.where(there, pixels, -np.inf).max(axis=1)
    return np.concatenate([low, high], axis=1)
