"""Counts that the client made while the masks were in memory, against the counts made of the files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.records.test_codec import assert_same
from uavsim.annotate import AnnotateOptions, annotate
from uavsim.annotate.measure import SceneMeasurement
from uavsim.errors import DatasetError
from uavsim.images import codec
from uavsim.records.labels import SceneLabels
from uavsim.records.modalities import Mask
from uavsim.records.recording import MeasuredBoxes, RecordedFrame, Recording
from uavsim.simulate.ports import SensorPose


def measured(recording: Recording, frame: RecordedFrame, *, channels: list[str]) -> MeasuredBoxes | None:
    poses = [
        SensorPose(shot.sensor, np.zeros(3), shot.ue_euler_deg, shot.map_SE3_sensor, np.zeros(3))
        for shot in frame.cameras
    ]
    measurement = SceneMeasurement(recording.plan, recording.actors)(frame.actors, frame.drones, poses)
    for shot in reversed(frame.cameras):  # threads end in any order
        if shot.channel in channels:
            ids, tags = codec.mask_ids_and_tags(recording.folder / shot.files["instance"])
            depth_m = codec.decode_depth(recording.folder / shot.files["depth"])
            measurement.see(shot.channel, Mask(ids, tags), depth_m=depth_m)
    return measurement.result([shot.channel for shot in frame.cameras])


@pytest.fixture
def without_masks(recording: Recording, tmp_path: Path) -> Recording:
    """The recording with its counts, in a folder that has no images."""
    channels = list(recording.plan.channels)
    frames = [
        replace(
            frame, measured=measured(recording, frame, channels=channels) if frame.sample_index is not None else None
        )
        for frame in recording.frames
    ]
    return replace(recording, frames=tuple(frames), folder=tmp_path)


def test_labels_of_counts_are_labels_of_masks(without_masks: Recording, labels: SceneLabels):
    found = annotate(without_masks)
    assert len(found.views.box_row) > 10
    for ours, theirs in ((found.boxes, labels.boxes), (found.views, labels.views)):
        for name in type(ours).__dataclass_fields__:
            assert_same(getattr(ours, name), getattr(theirs, name))


def test_other_boxes_are_counted_anew(without_masks: Recording):
    with pytest.raises(DatasetError, match="cannot be read"):  # there is no mask to count in
        annotate(without_masks, options=AnnotateOptions(range_m=20.0))


def test_a_camera_that_was_not_measured_leaves_no_counts(recording: Recording):
    assert measured(recording, recording.frames[0], channels=list(recording.plan.channels)[1:]) is None
