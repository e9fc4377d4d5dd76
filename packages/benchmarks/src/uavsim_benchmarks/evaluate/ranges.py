"""nuScenes' filter of boxes: in range, seen by a sensor, and not in a bicycle rack."""

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import Boxes

__all__ = ["in_racks", "keep_evaluated", "range_on_ground"]


def range_on_ground(boxes: Boxes, ego_m: FloatArray) -> FloatArray:
    """Return (N,) distances in metres on the ground between boxes and the ego positions (samples, 3) of their samples."""
    offset = boxes.centre_m[:, :2] - ego_m[boxes.sample, :2]
    distance: FloatArray = np.sqrt(np.sum(offset**2, axis=1))
    return distance


def keep_evaluated(
    boxes: Boxes, ego_m: FloatArray, range_m: FloatArray, *, racks: Boxes | None = None, two_wheelers: IntArray
) -> Boxes:
    """Return the boxes that nuScenes evaluates.

    Args:
        boxes: ground truth or predictions.
        ego_m: (samples, 3) ego pose of each sample.
        range_m: (classes,) boxes at or past it are left out.
        racks: bicycle racks; labels in ``two_wheelers`` with their centre in one are left out.
        two_wheelers: (K,) labels of bicycles and motorcycles.

    Source: nuscenes-devkit 1.2.0, ``eval/common/loaders.py``, ``filter_eval_boxes``.
    """
    in_range = (range_on_ground(boxes, ego_m) < range_m[boxes.label]) & boxes.counted
    boxes = boxes.take(in_range)
    if racks is None or not len(racks):
        return boxes
    return boxes.take(~(np.isin(boxes.label, two_wheelers) & in_racks(boxes, racks)))


def in_racks(boxes: Boxes, racks: Boxes) -> BoolArray:
    """Return (N,) bool: the box centre is inside a rack of its sample."""
    inside = np.zeros(len(boxes), bool)
    for k in range(len(racks)):
        rows = slice(*np.searchsorted(boxes.sample, [racks.sample[k], racks.sample[k] + 1]).tolist())
        offset = boxes.centre_m[rows] - racks.centre_m[k]
        cos, sin = np.cos(racks.yaw_rad[k]), np.sin(racks.yaw_rad[k])
        along, across = offset[:, 0] * cos + offset[:, 1] * sin, offset[:, 1] * cos - offset[:, 0] * sin
        width, length, height = racks.size_m[k] / 2
        inside[rows] |= (np.abs(along) <= length) & (np.abs(across) <= width) & (np.abs(offset[:, 2]) <= height)
    return inside
