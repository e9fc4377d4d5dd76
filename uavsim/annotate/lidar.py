"""What lidars saw: how many points each box has, and the class of every point."""

from __future__ import annotations

import numpy as np

from uavsim.images import points
from uavsim.records import lidarseg
from uavsim.records.classes import class_of
from uavsim.records.labels import BoxLabels
from uavsim.records.modalities import LIDAR, LIDAR_INSTANCE
from uavsim.records.recording import Recording, SensorReading
from uavsim.typing import IntArray, UInt8Array

__all__ = ["PointLabels", "points_on_boxes"]

_IDS = 65536


def points_on_boxes(recording: Recording, boxes: BoxLabels) -> IntArray | None:
    """Return (N,) points of all lidars on each box, None where the rig has no lidar.

    Raises:
        DatasetError: a scan's file is missing or damaged.
    """
    if not any(LIDAR in sensor.spec.modalities for sensor in recording.plan.sensors):
        return None
    found = np.zeros(len(boxes), dtype=np.int64)
    for frame in recording.frames:
        if frame.sample_index is None:
            continue
        count = np.zeros(_IDS, dtype=np.int64)
        for scan in frame.with_modality(LIDAR_INSTANCE):
            owners = points.decode_owners(recording.folder / scan.files[LIDAR_INSTANCE])
            count += np.bincount(owners[:, 0], minlength=_IDS)
        rows = np.flatnonzero(boxes.sample_index == frame.sample_index)
        found[rows] = count[boxes.instance_id[rows]]
    return found


class PointLabels:
    """Labels points in nuScenes-lidarseg's numbers: an actor's by its category, everything else by its semantic tag."""

    def __init__(self, recording: Recording) -> None:
        """Note each actor's category; it does not hang on which classes get boxes."""
        self._folder = recording.folder
        self._of_tag = lidarseg.index_of_tags()
        self._of_instance = np.zeros(_IDS, dtype=np.uint8)  # 0: goes by the tag
        for info in recording.actors:
            found = class_of(info)
            if found is not None:
                self._of_instance[info.instance_id] = lidarseg.index_of(found.category.name)

    def of_scan(self, scan: SensorReading) -> UInt8Array:
        """Return (N,) labels in the order of the scan's points.

        Raises:
            DatasetError: the scan's file is missing or damaged.
        """
        owners = points.decode_owners(self._folder / scan.files[LIDAR_INSTANCE])
        by_instance = self._of_instance[owners[:, 0]]
        return np.where(by_instance > 0, by_instance, self._of_tag[np.minimum(owners[:, 1], 255)]).astype(np.uint8)
