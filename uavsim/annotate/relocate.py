"""Label a scene again from what the data set keeps of its recording; the images have moved, nothing else has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from uavsim.dataset import layout
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import CameraShot, RecordedFrame, Recording

__all__ = ["in_dataset"]


def in_dataset(recording: Recording, root: Path) -> Recording:
    """Return the recording with its images where the data set at ``root`` has them.

    Paths of keyframes' and sweeps' images keep their file type, which is all that labels take from them.
    """
    frames = tuple(_moved(recording.plan, frame) for frame in recording.frames)
    return replace(recording, folder=root, frames=frames)


def _moved(plan: ScenePlan, frame: RecordedFrame) -> RecordedFrame:
    scans = tuple(
        replace(scan, files={name: layout.file_path(plan, frame, scan, name=name) for name in scan.files})
        for scan in frame.scans
    )
    return replace(frame, shots=tuple(_moved_shot(plan, frame, shot) for shot in frame.shots), scans=scans)


def _moved_shot(plan: ScenePlan, frame: RecordedFrame, shot: CameraShot) -> CameraShot:
    moved = {name: layout.file_path(plan, frame, shot, name=name) for name in shot.files}
    degraded = {"file": layout.degraded_path(plan, frame, shot)} if "file" in shot.degradation else {}
    return replace(shot, files=moved, degradation=shot.degradation | degraded)
