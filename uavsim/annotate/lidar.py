"""Lidar and radar points: their number on each box, and the class of every point."""

import numpy as np

from uavsim.images import points
from uavsim.records import lidarseg
from uavsim.records.classes import class_of
from uavsim.records.labels import BoxLabels
from uavsim.records.modalities import LIDAR_INSTANCE, modalities
from uavsim.records.recording import Recording, SensorReading
from uavsim.typing import AnyArray, IntArray, UInt8Array

_IDS = 65536


def points_on_boxes(recording: Recording, boxes: BoxLabels) -> dict[str, IntArray]:
    """Count the points on boxes.

    Args:
        recording: recording of a scene.
        boxes: N boxes of the scene.

    Returns:
        nuScenes sensor kind (``lidar``, ``radar``) -> (N, agents) int64 counts, for each kind in the rigs.

    Raises:
        DatasetError: a scan's file is missing or damaged.
    """
    taken = {name for sensor in recording.plan.sensors for name in sensor.spec.modalities}
    owners = [m for m in modalities().values() if m.derived_from in taken and m.nuscenes != "camera"]
    column = {agent: number for number, agent in enumerate(recording.plan.agents)}
    shape = (len(boxes), len(column))
    found: dict[str, IntArray] = {m.nuscenes: np.zeros(shape, dtype=np.int64) for m in owners}
    for frame in recording.frames:
        if frame.sample_index is None:
            continue
        rows = np.flatnonzero(boxes.sample_index == frame.sample_index)
        for m in owners:
            for scan in frame.with_modality(m.name):
                count = np.bincount(m.decode(recording.folder / scan.files[m.name])[:, 0], minlength=_IDS)
                found[m.nuscenes][rows, column[scan.sensor.agent]] += count[boxes.instance_id[rows]]
    return found


class PointLabels:
    """Labels points with nuScenes-lidarseg numbers: by category on actors, by semantic tag elsewhere."""

    def __init__(self, recording: Recording) -> None:
        """Prepare the tables; categories do not depend on which classes get boxes."""
        self._folder = recording.folder
        self._of_tag = lidarseg.index_of_tags()
        self._of_instance = np.zeros(_IDS, dtype=np.uint8)  # 0: label by the tag
        for info in recording.actors:
            found = class_of(info)
            if found is not None:
                self._of_instance[info.instance_id] = lidarseg.index_of(found.category.name)

    def of_scan(self, scan: SensorReading) -> UInt8Array:
        """Return (N,) uint8 labels in the order of the scan's points.

        Raises:
            DatasetError: the scan's file is missing or damaged.
        """
        owners = points.decode_owners(self._folder / scan.files[LIDAR_INSTANCE])
        by_instance = self._of_instance[owners[:, 0]]
        return np.where(by_instance > 0, by_instance, self.of_tags(owners[:, 1])).astype(np.uint8)

    def of_tags(self, tags: AnyArray) -> UInt8Array:
        """Return (N,) uint8 labels of points without instance ids from their (N,) semantic tags."""
        return self._of_tag[np.minimum(tags, 255)].astype(np.uint8)
