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
    return replace(frame, shots=tuple(_moved_shot(plan, frame, shot, generation) for shot in frame.shots))


def _moved_shot(plan: ScenePlan, frame: RecordedFrame, shot: CameraShot, generation: int) -> CameraShot:
    moved = {
        kind: generation_name(layout.layer_path(plan, frame, shot, kind=kind, recorded=old), generation)
        for kind, old in layout.layers(shot)
    }
    return replace(
        shot,
        rgb=generation_name(layout.image_path(plan, frame, shot), generation) if shot.rgb is not None else None,
        mask=moved.get("instance"),
        depth=moved.get("depth"),
        lidar=moved.get("lidar"),
        degradation=shot.degradation | ({"file": moved["degraded"]} if "degraded" in moved else {}),
    )
