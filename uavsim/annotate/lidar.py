"""Points of lidars and radars: how many each box has, and the class of every point."""

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
    """Return (N, agents) points on each box by nuScenes' kind of sensor, of each kind that a rig has.

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
        return np.where(by_instance > 0, by_instance, self.of_tags(owners[:, 1])).astype(np.uint8)

    def of_tags(self, tags: AnyArray) -> UInt8Array:
        """Return (N,) labels of points of which the semantic tags are known alone."""
        return self._of_tag[np.minimum(tags, 255)].astype(np.uint8)
