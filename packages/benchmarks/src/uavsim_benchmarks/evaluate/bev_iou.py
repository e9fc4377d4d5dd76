"""Overlap of boxes seen from above: along the axes, as UAV3D takes it, and turned, as it is."""

from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray

__all__ = ["aligned_iou", "axis_bounds", "corners_of", "polygon_iou", "turned_iou"]

_SLACK_M: Final = 1e-9


def axis_bounds(centre_m: FloatArray, size_m: FloatArray) -> FloatArray:
    """Return (N, 4) x0, y0, x1, y1: half of size[0] to both sides along x and of size[1] along y, whatever the heading.

    Source: UAV3D, ``mmdet3d/datasets/nuscenes_dataset.py``, ``format_results_iou``.
    """
    half = size_m[:, :2] / 2
    return np.concatenate([centre_m[:, :2] - half, centre_m[:, :2] + half], axis=1)


def aligned_iou(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """Return (N, M) intersection over union of boxes along the axes; 0 where both have no area.

    Args:
        ours: (N, 4) x0, y0, x1, y1.
        theirs: (M, 4).
    """
    low = np.maximum(ours[:, None, :2], theirs[None, :, :2])
    high = np.minimum(ours[:, None, 2:], theirs[None, :, 2:])
    overlap = np.maximum(high - low, 0).prod(axis=2)
    area, other = ((b[:, 2:] - b[:, :2]).prod(axis=1) for b in (ours, theirs))
    return _ratio(overlap, area[:, None] + other[None, :] - overlap)


def corners_of(centre_m: FloatArray, size_m: FloatArray, yaw_rad: FloatArray) -> FloatArray:
    """Return (N, 4, 2) corners on the ground, counter-clockwise; size is width (across), length (along the heading)."""
    half = np.stack([size_m[:, 1], size_m[:, 0]], axis=1)[:, None, :] / 2
    local = half * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    turn = np.stack([np.stack([cos, -sin], axis=1), np.stack([sin, cos], axis=1)], axis=1)
    corners: FloatArray = np.einsum("nij,nkj->nki", turn, local) + centre_m[:, None, :2]
    return corners


def turned_iou(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """Return (N, M) intersection over union of convex quadrangles, (N, 4, 2) and (M, 4, 2), either way around."""
    iou = np.zeros((len(ours), len(theirs)))
    low, high = np.maximum(ours.min(1)[:, None], theirs.min(1)), np.minimum(ours.max(1)[:, None], theirs.max(1))
    row, column = np.nonzero((high > low).all(axis=2))
    if len(row):
        iou[row, column] = polygon_iou(ours[row], theirs[column])
    return iou


def polygon_iou(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """Return (K,) intersection over union of pairs of convex quadrangles, (K, 4, 2) each."""
    ours, theirs = _counter_clockwise(ours), _counter_clockwise(theirs)
    overlap = np.abs(_area(_intersection(ours, theirs)))
    return _ratio(overlap, np.abs(_area(ours)) + np.abs(_area(theirs)) - overlap)


def _intersection(subject: FloatArray, window: FloatArray) -> FloatArray:
    """Return (K, 24, 2): corners of the intersection in order around it; places left over repeat a corner."""
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
    """Return (K, 16, 2) where each edge of one meets each edge of the other, and (K, 16) whether it does."""
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
    """Return (K, P): the point lies in the counter-clockwise window or on its border."""
    edge = np.roll(window, -1, axis=1) - window
    offset = points[:, :, None, :] - window[:, None, :, :]
    side = edge[:, None, :, 0] * offset[..., 1] - edge[:, None, :, 1] * offset[..., 0]
    within: BoolArray = (side >= -_SLACK_M * np.linalg.norm(edge, axis=-1)[:, None, :]).all(axis=2)
    return within


def _area(polygon: FloatArray) -> FloatArray:
    """Return (K,) signed areas; taken about the first corner, so that far from the origin no digits are lost."""
    x, y = np.moveaxis(polygon - polygon[:, :1], -1, 0)
    area: FloatArray = ((x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y) / 2).sum(axis=1)
    return area


def _counter_clockwise(polygon: FloatArray) -> FloatArray:
    return np.where((_area(polygon) < 0)[:, None, None], polygon[:, ::-1], polygon)


def _ratio(overlap: FloatArray, union: FloatArray) -> FloatArray:
    return np.divide(overlap, union, out=np.zeros_like(overlap), where=union > 0)
