"""Label a scene again from what the dataset keeps of its recording; the images have moved, nothing else has."""

from dataclasses import replace
from pathlib import Path

from uavsim.dataset import layout
from uavsim.files.names import generation_name
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import RecordedFrame, Recording, SensorReading


def in_dataset(recording: Recording, root: Path, *, generation: int = 0) -> Recording:
    """Return the recording with its images where the dataset at ``root`` has them.

    Paths of keyframes' and sweeps' images keep their file type, which is all that labels take from them.

    Args:
        recording: as the dataset keeps it, without images.
        root: the dataset's folder.
        generation: of the scene, as its ledger entry reports; each has file names of its own.
    """
    frames = tuple(_moved(recording.plan, frame, generation) for frame in recording.frames)
    return replace(recording, folder=root, frames=frames)


def _moved(plan: ScenePlan, frame: RecordedFrame, generation: int) -> RecordedFrame:
    return replace(frame, readings=tuple(_moved_reading(plan, frame, r, generation) for r in frame.readings))


def _moved_reading(plan: ScenePlan, frame: RecordedFrame, reading: SensorReading, generation: int) -> SensorReading:
    moved = {n: generation_name(layout.file_path(plan, frame, reading, name=n), generation) for n in reading.files}
    degradation = reading.degradation
    if "file" in degradation:
        degradation = degradation | {"file": generation_name(layout.degraded_path(plan, frame, reading), generation)}
    return replace(reading, files=moved, degradation=degradation)
