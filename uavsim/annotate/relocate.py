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
    return replace(frame, shots=tuple(_moved_shot(plan, frame, shot) for shot in frame.shots))


def _moved_shot(plan: ScenePlan, frame: RecordedFrame, shot: CameraShot) -> CameraShot:
    moved = {kind: layout.layer_path(plan, frame, shot, kind=kind, recorded=old) for kind, old in layout.layers(shot)}
    return replace(
        shot,
        rgb=layout.image_path(plan, frame, shot) if shot.rgb is not None else None,
        mask=moved.get("instance"),
        depth=moved.get("depth"),
        lidar=moved.get("lidar"),
        degradation=shot.degradation | ({"file": moved["degraded"]} if "degraded" in moved else {}),
    )
