"""Oriented boxes: corners in the devkit's order, visibility by the devkit's rule, footprints; many boxes at once.

A box frame is flu: length along x, width along y, height along z, origin at the centre. ``size_lwh_m`` is (length, width,
height); nuScenes files write (width, length, height).
"""

from typing import Final

import numpy as np

from uavsim.geometry.pinhole import pixel_in_image
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray

_SIGNS: Final[FloatArray] = np.array(
    [[1, 1, 1], [1, -1, 1], [1, -1, -1], [1, 1, -1], [-1, 1, 1], [-1, -1, 1], [-1, -1, -1], [-1, 1, -1]],
    dtype=np.float64,
)
EDGES: Final = np.array(
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
)
"""(12, 2) corner pairs of a box's edges, in the order of ``corners``."""


def corners(dst_SE3_box: SE3, *, size_lwh_m: FloatArray) -> FloatArray:
    """Return the corners of boxes, in the order of the nuScenes devkit (``Box.corners``).

    The four of the front face come first (left top, right top, right bottom, left bottom), then the four behind them.

    Args:
        dst_SE3_box: (...) box poses in frame ``dst``.
        size_lwh_m: (..., 3) length, width, height, metres.

    Returns:
            (..., 8, 3) corners in ``dst``, metres.
    """
    half_m = np.asarray(size_lwh_m, dtype=np.float64)[..., None, :] / 2.0
    return dst_SE3_box[..., None].apply(half_m * _SIGNS)


def lwh_from_wlh(size_wlh_m: FloatArray) -> FloatArray:
    """Reorder (..., 3) nuScenes sizes (width, length, height) to (length, width, height)."""
    return np.asarray(size_wlh_m, dtype=np.float64)[..., [1, 0, 2]]


def footprints(map_SE3_box: SE3, *, size_lwh_m: FloatArray) -> FloatArray:
    """Return the outlines of boxes seen from above.

    Args:
        map_SE3_box: (...) box poses in the map frame.
        size_lwh_m: (..., 3) length, width, height, metres.

    Returns:
        (..., 8, 2) x, y of convex polygons in the map frame, metres; counter-clockwise, the last corner repeated.
    """
    return convex_hulls(corners(map_SE3_box, size_lwh_m=size_lwh_m)[..., :2])


def overlap_m(one: FloatArray, others: FloatArray) -> FloatArray:
    """Return the penetration depth of rectangles: the shortest move that separates each from ``one``.

    Args:
        one: (4, 2) corners of a rectangle in order, metres.
        others: (N, 4, 2) corners of other rectangles, metres.

    Returns:
            (N,) depths, metres; 0 where the rectangles do not overlap.
    """
    both = np.stack([np.broadcast_to(one, others.shape), others], axis=1)
    sides = both[:, :, 1:3] - both[:, :, :2]
    across = np.stack([-sides[..., 1], sides[..., 0]], axis=-1).reshape(len(others), 4, 2)
    across /= np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-12)
    along = np.einsum("nrpc,nac->nrap", both, across)  # rectangle, axis, corner
    low, high = along.min(axis=-1), along.max(axis=-1)
    shared_m: FloatArray = (high.min(axis=1) - low.max(axis=1)).min(axis=-1)
    return np.maximum(shared_m, 0.0)


def convex_hulls(points: FloatArray) -> FloatArray:
    """Return the convex hulls of point sets, for few points a set.

    Gift wrapping of all sets at once: from each corner to the point that has every other on its left; of collinear points the
    farthest. It starts at the point with the smallest x (of those, the smallest y).

    Args:
        points: (..., K, 2) x, y, any unit.

    Returns:
        (..., K, 2) corners counter-clockwise (y up), the last one repeated; NaN for a set that holds a NaN.
    """
    sets = np.asarray(points, dtype=np.float64)
    flat = sets.reshape(-1, *sets.shape[-2:])
    rows, count = np.arange(len(flat)), flat.shape[1]
    scale = np.maximum(np.abs(flat).max(axis=(1, 2), initial=0.0), 1.0)
    slack, same = 1e-12 * scale**2, 1e-12 * scale  # tolerances of areas and of lengths
    first = np.lexsort((flat[..., 1], flat[..., 0]), axis=-1)[:, 0]
    current, done = first, np.zeros(len(flat), dtype=np.bool_)
    hull, visited = np.empty_like(flat), np.zeros(flat.shape[:2], dtype=np.bool_)
    for corner in range(count):
        hull[:, corner] = flat[rows, current]
        visited[rows, current] = True
        step = flat - flat[rows, current][:, None]
        cross = step[:, :, None, 0] * step[:, None, :, 1] - step[:, :, None, 1] * step[:, None, :, 0]
        others_left = (cross >= -slack[:, None, None]).all(axis=2)
        reach = np.where(others_left, np.linalg.norm(step, axis=-1), -1.0)
        following = reach.argmax(axis=1)
        at_start = (np.abs(flat[rows, following] - flat[rows, first]) <= same[:, None]).all(axis=1)
        # By rounding, the walk may miss a start on an edge and return to the corner after it.
        done |= at_start | visited[rows, following]
        current = np.where(done, current, following)
    hull[np.isnan(flat).any(axis=(1, 2))] = np.nan
    return hull.reshape(sets.shape)


def boxes_in_image(
    corners_optical_m: FloatArray, corners_px: FloatArray, *, width_px: int, height_px: int
) -> BoolArray:
    """Apply the devkit's visibility rule ``BoxVisibility.ANY``.

    One corner inside the image and deeper than 1 m is enough; every corner must be more than 0.1 m in front of the camera.

    Args:
        corners_optical_m: (..., 8, 3) corners in the camera's optical frame, metres.
        corners_px: (..., 8, 2) their projections, pixels.
        width_px: width of the image.
        height_px: height of the image.

    Returns:
            (...) bool, True for visible boxes.

    Source: nuScenes devkit 1.2.0, ``geometry_utils.box_in_image``.
    """
    depth_m = corners_optical_m[..., 2]
    is_inside = pixel_in_image(corners_px, width_px=width_px, height_px=height_px) & (depth_m > 1.0)
    return np.asarray(is_inside.any(axis=-1) & (depth_m > 0.1).all(axis=-1))
