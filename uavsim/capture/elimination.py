"""Match mask ids to the town's parked vehicles by elimination.

A parked vehicle stands still, and all of its pixels lie within its projected box, hidden in part or not. A box that one view
contradicts is excluded permanently; views from a side or from above leave one box for a mask id. The id is bound when half of
the box has also been visible: a sliver of a vehicle that the simulator does not list may lie within another vehicle's box. Ids
that stay ambiguous are bound to no vehicle.
"""

from typing import Final

import numpy as np

from uavsim.geometry import pinhole
from uavsim.geometry.cuboid import EDGES
from uavsim.typing import BoolArray, FloatArray, IntArray

_NEAR_M: Final = 0.1
_SLACK_PX: Final = 3.0
_SLACK_SHARE: Final = 0.02  # of a box's width and height: meshes exceed their boxes
_WHOLE: Final = 0.5  # minimum share of the box's visible width and height that the pixels span
_IN_IMAGE: Final = 0.25  # minimum share of a box's width and height inside the image


class Elimination:
    """Keeps the boxes that are still possible for each mask id."""

    def __init__(self, semantic_tags: IntArray) -> None:
        """Start with all boxes possible for every id.

        Args:
            semantic_tags: (N,) semantic tags of the boxes; 0 if unknown.
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
        """Add the evidence of a view.

        Args:
            ids: (K,) mask ids.
            tags: (K,) semantic tags of their pixels.
            extents_px: (K, 4) bounds x_min, y_min, x_max, y_max of their pixels, pixel edges.
            rectangles_px: (N, 4) bounds of the boxes from ``projected_bounds``.
            image_px: width and height of the image.
        """
        size_px = rectangles_px[:, 2:] - rectangles_px[:, :2]
        held_px = np.minimum(rectangles_px[:, 2:], image_px) - np.maximum(rectangles_px[:, :2], 0)
        least_px = np.where(held_px >= _IN_IMAGE * size_px, _WHOLE * held_px, np.inf)
        slack_px = _SLACK_PX + _SLACK_SHARE * np.minimum(size_px, image_px)
        extent, rectangle = extents_px[:, None, :], rectangles_px[None]
        outside = (extent[..., :2] < rectangle[..., :2] - slack_px) | (extent[..., 2:] > rectangle[..., 2:] + slack_px)
        inside = ~outside.any(axis=-1) & ((self._tags == 0) | (self._tags == tags[:, None]))
        is_filling = inside & (extent[..., 2:] - extent[..., :2] >= least_px).all(axis=-1)
        for number, possible, is_whole in zip(ids.tolist(), inside, is_filling, strict=True):
            self._possible[number] = possible & self._possible.get(number, True)
            self._whole[number] = is_whole | self._whole.get(number, False)

    def bound(self) -> dict[int, int]:
        """Map each certain mask id to the row of its box; a box that two ids claim is bound to neither."""
        certain: dict[int, int] = {}
        for number, possible in self._possible.items():
            row = int(possible.argmax())
            if possible.sum() == 1 and self._whole[number][row]:
                certain[number] = row
        claims = np.bincount(list(certain.values()), minlength=len(self._tags))
        return {number: row for number, row in certain.items() if claims[row] == 1}


def projected_bounds(corners_optical_m: FloatArray, intrinsic: FloatArray) -> FloatArray:
    """Project the parts of boxes that are in front of the camera.

    Args:
        corners_optical_m: (N, 8, 3) corners in the optical frame, metres, in the order of ``cuboid.corners``.
        intrinsic: (3, 3) intrinsic matrix, pixels.

    Returns:
            (N, 4) bounds x_min, y_min, x_max, y_max, pixels; inf and -inf for a box without such a part.
    """
    begin, end = corners_optical_m[:, EDGES[:, 0]], corners_optical_m[:, EDGES[:, 1]]
    rise_m = end[..., 2:] - begin[..., 2:]
    cut = begin + (end - begin) * (_NEAR_M - begin[..., 2:]) / np.where(rise_m == 0.0, 1.0, rise_m)
    crosses = (begin[..., 2] < _NEAR_M) != (end[..., 2] < _NEAR_M)
    points = np.concatenate([corners_optical_m, cut], axis=1)
    is_in_front = np.concatenate([corners_optical_m[..., 2] >= _NEAR_M, crosses], axis=1)[..., None]
    pixels = pinhole.project(points, intrinsic=intrinsic)
    low, high = np.where(is_in_front, pixels, np.inf).min(axis=1), np.where(is_in_front, pixels, -np.inf).max(axis=1)
    return np.concatenate([low, high], axis=1)
