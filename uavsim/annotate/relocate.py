"""Prepare a stored recording for labelling again: its images have moved into the dataset."""

from dataclasses import replace
from pathlib import Path

from uavsim.dataset import layout
from uavsim.files.names import generation_name
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import RecordedFrame, Recording, SensorReading


def in_dataset(recording: Recording, root: Path, *, generation: int = 0) -> Recording:
    """Return the recording with the file paths of its images in the dataset.

    Paths keep their file type, the only part of them that labels use.

    Args:
        recording: recording stored in the dataset, without images.
        root: the dataset's folder.
        generation: generation of the scene in its ledger entry; each one has its own file names.
    """
    frames = tuple(
        replace(frame, readings=tuple(_moved(recording.plan, frame, reading, generation) for reading in frame.readings))
        for frame in recording.frames
    )
    return replace(recording, folder=root, frames=frames)


def _moved(plan: ScenePlan, frame: RecordedFrame, reading: SensorReading, generation: int) -> SensorReading:
    moved = {n: generation_name(layout.file_path(plan, frame, reading, name=n), generation) for n in reading.files}
    degradation = reading.degradation
    if "file" in degradation:
        degradation = degradation | {"file": generation_name(layout.degraded_path(plan, frame, reading), generation)}
    return replace(reading, files=moved, degradation=degradation)
