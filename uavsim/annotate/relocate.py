"""Label a scene again from what the data set keeps of its recording; the images have moved, nothing else has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from uavsim.dataset import layout
from uavsim.files.names import generation_name
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import CameraShot, RecordedFrame, Recording

__all__ = ["in_dataset"]


def in_dataset(recording: Recording, root: Path, *, generation: int = 0) -> Recording:
    """Return the recording with its images where the data set at ``root`` has them.

    Paths of keyframes' and sweeps' images keep their file type, which is all that labels take from them.

    Args:
        recording: as the data set keeps it, without images.
        root: the data set's folder.
        generation: of the scene, as its ledger entry tells; each has file names of its own.
    """
    frames = tuple(_moved(recording.plan, frame, generation) for frame in recording.frames)
    return replace(recording, folder=root, frames=frames)


def _moved(plan: ScenePlan, frame: RecordedFrame, generation: int) -> RecordedFrame:
    def kept(name: str) -> str:
        return generation_name(name, generation)

    scans = tuple(
        replace(scan, files={name: kept(layout.file_path(plan, frame, scan, name=name)) for name in scan.files})
        for scan in frame.scans
    )
    return replace(frame, shots=tuple(_moved_shot(plan, frame, shot, generation) for shot in frame.shots), scans=scans)


def _moved_shot(plan: ScenePlan, frame: RecordedFrame, shot: CameraShot, generation: int) -> CameraShot:
    moved = {name: generation_name(layout.file_path(plan, frame, shot, name=name), generation) for name in shot.files}
    degraded = layout.degraded_path(plan, frame, shot) if "file" in shot.degradation else ""
    told = {"file": generation_name(degraded, generation)} if degraded else {}
    return replace(shot, files=moved, degradation=shot.degradation | told)
