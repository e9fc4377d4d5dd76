"""Bird's-eye-view overlap of boxes, axis-aligned as in UAV3D and rotated, and matching by overlap."""

from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray

__all__ = ["aligned_iou", "axis_bounds", "claim_best_free", "corners_of", "polygon_iou", "turned_iou"]

_SLACK_M: Final = 1e-9


def axis_bounds(centre_m: FloatArray, size_m: FloatArray) -> FloatArray:
    """Return (N, 4) x0, y0, x1, y1 of boxes that ignore the heading: size[0] along x and size[1] along y.

    Args:
        centre_m: (N, 3).
        size_m: (N, 3) width, length, height.

    Source: UAV3D, ``mmdet3d/datasets/nuscenes_dataset.py``, ``format_results_iou``.
    """
    half = size_m[:, :2] / 2
    return np.concatenate([centre_m[:, :2] - half, centre_m[:, :2] + half], axis=1)


def aligned_iou(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return (N, M) intersection over union of axis-aligned boxes; 0 where both have no area.

    Args:
        first: (N, 4) x0, y0, x1, y1.
        second: (M, 4).
    """
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    overlap = np.maximum(high - low, 0).prod(axis=2)
    area, other = ((b[:, 2:] - b[:, :2]).prod(axis=1) for b in (first, second))
    return _ratio(overlap, area[:, None] + other[None, :] - overlap)


def corners_of(centre_m: FloatArray, size_m: FloatArray, yaw_rad: FloatArray) -> FloatArray:
    """Return (N, 4, 2) corners on the ground, counter-clockwise.

    Args:
        centre_m: (N, 3).
        size_m: (N, 3) width (across the heading), length (along it), height.
        yaw_rad: (N,).
    """
    half = np.stack([size_m[:, 1], size_m[:, 0]], axis=1)[:, None, :] / 2
    local = half * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    turn = np.stack([np.stack([cos, -sin], axis=1), np.stack([sin, cos], axis=1)], axis=1)
    corners: FloatArray = np.einsum("nij,nkj->nki", turn, local) + centre_m[:, None, :2]
    return corners


def turned_iou(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return (N, M) intersection over union of convex quadrangles, (N, 4, 2) and (M, 4, 2), in either orientation."""
    iou = np.zeros((len(first), len(second)))
    low, high = np.maximum(first.min(1)[:, None], second.min(1)), np.minimum(first.max(1)[:, None], second.max(1))
    row, column = np.nonzero((high > low).all(axis=2))
    if len(row):
        iou[row, column] = polygon_iou(first[row], second[column])
    return iou


def polygon_iou(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return (K,) intersection over union of pairs of convex quadrangles, (K, 4, 2) each."""
    first, second = _counter_clockwise(first), _counter_clockwise(second)
    overlap = np.abs(_area(_intersection(first, second)))
    return _ratio(overlap, np.abs(_area(first)) + np.abs(_area(second)) - overlap)


def claim_best_free(iou: FloatArray, order: IntArray, threshold: float) -> BoolArray:
    """Match detections of one sample greedily, each to the free box that it overlaps most.

    Args:
        iou: (P, G) overlap of detections and ground truth.
        order: (P,) rows in the order in which they claim a box.
        threshold: lowest overlap of a match.

    Returns:
        (P,) True for a true positive.
    """
    matched, free = np.zeros(len(iou), bool), np.ones(iou.shape[1], bool)
    candidates: BoolArray = iou.max(axis=1, initial=0.0) >= threshold
    for row in order[candidates[order]].tolist():
        open_to = np.where(free, iou[row], -1.0)
        best = int(open_to.argmax())
        if open_to[best] >= threshold:
            matched[row], free[best] = True, False
    return matched


def _intersection(subject: FloatArray, window: FloatArray) -> FloatArray:
    """Return (K, 24, 2) corners of the intersections, counter-clockwise; unused rows repeat a corner."""
    crossing, valid = _crossings(subject, window)
    points = np.concatenate([subject, window, crossing], axis=1)
    used: BoolArray = np.concatenate([_inside(subject, window), _inside(window, subject), valid], axis=1)
    count = np.maximum(used.sum(axis=1), 1)
    middle = (points * used[:, :, None]).sum(axis=1) / count[:, None]
    angle = np.arctan2(points[:, :, 1] - middle[:, 1:2], points[:, :, 0] - middle[:, :1])
    order = np.argsort(np.where(used, angle, np.inf), axis=1)
    points = np.take_along_axis(points, order[:, :, None], axis=1)
    filled = np.arange(points.shape[1]) < used.sum(axis=1)[:, None]
    return np.where(filled[:, :, None], points, np.where((used.sum(axis=1) > 0)[:, None, None], points[:, :1], 0.0))


def _crossings(subject: FloatArray, window: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return (K, 16, 2) intersections of the edges of one with those of the other, and (K, 16) whether they exist."""
    start, other = subject[:, :, None, :], window[:, None, :, :]
    along = np.roll(subject, -1, axis=1)[:, :, None, :] - start
    along_other = np.roll(window, -1, axis=1)[:, None, :, :] - other
    cross = along[..., 0] * along_other[..., 1] - along[..., 1] * along_other[..., 0]
    offset = other - start
    parallel = np.abs(cross) < 1e-14 * np.maximum(1.0, np.abs(along).max(-1) * np.abs(along_other).max(-1))
    safe = np.where(parallel, 1.0, cross)
    t = (offset[..., 0] * along_other[..., 1] - offset[..., 1] * along_other[..., 0]) / safe
    u = (offset[..., 0] * along[..., 1] - offset[..., 1] * along[..., 0]) / safe
    valid = ~parallel & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    points = start + t[..., None] * along
    return points.reshape(len(subject), 16, 2), valid.reshape(len(subject), 16)


def _inside(points: FloatArray, window: FloatArray) -> BoolArray:
    """Return (K, P) bool: the point lies in the counter-clockwise window or on its border."""
    edge = np.roll(window, -1, axis=1) - window
    offset = points[:, :, None, :] - window[:, None, :, :]
    side = edge[:, None, :, 0] * offset[..., 1] - edge[:, None, :, 1] * offset[..., 0]
    within: BoolArray = (side >= -_SLACK_M * np.linalg.norm(edge, axis=-1)[:, None, :]).all(axis=2)
    return within


def _area(polygon: FloatArray) -> FloatArray:
    """Return (K,) signed areas, relative to the first corner to keep precision far from the origin."""
    x, y = np.moveaxis(polygon - polygon[:, :1], -1, 0)
    area: FloatArray = ((x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y) / 2).sum(axis=1)
    return area


def _counter_clockwise(polygon: FloatArray) -> FloatArray:
    return np.where((_area(polygon) < 0)[:, None, None], polygon[:, ::-1], polygon)


def _ratio(overlap: FloatArray, union: FloatArray) -> FloatArray:
    return np.divide(overlap, union, out=np.zeros_like(overlap), where=union > 0)
