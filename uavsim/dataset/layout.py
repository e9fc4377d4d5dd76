"""Where the files of a data set lie: from a recording's own paths to ``samples/``, ``sweeps/``, ``masks/``, ``depth/``."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final, Literal

from uavsim.errors import DatasetError
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import CameraShot, RecordedFrame, Recording

__all__ = ["BEV_CHANNEL", "LayerKind", "final_paths", "image_path", "layer_path", "layers", "lidar_path", "map_path"]

LayerKind = Literal["instance", "depth", "lidar", "degraded"]
BEV_CHANNEL: Final = "LIDAR_TOP"
_LAYER_ROOT: Final[dict[LayerKind, str]] = {
    "instance": "masks",
    "depth": "depth",
    "lidar": "lidar",
    "degraded": "degraded",
}


def image_path(plan: ScenePlan, frame: RecordedFrame, shot: CameraShot) -> str:
    """Return where the RGB image of ``shot`` lies in the data set: keyframes in ``samples/``, others in ``sweeps/``."""
    if shot.rgb is None:
        raise DatasetError(f"{plan.scene_name}: {shot.channel} has no image at step {frame.step}")
    root = "sweeps" if frame.sample_index is None else "samples"
    return f"{root}/{shot.channel}/{_stem(plan, frame, shot.channel)}{PurePosixPath(shot.rgb).suffix}"


def layer_path(plan: ScenePlan, frame: RecordedFrame, shot: CameraShot, *, kind: LayerKind, recorded: str) -> str:
    """Return where a mask, depth image or scan that belongs to ``shot`` lies in the data set."""
    suffix = "".join(PurePosixPath(recorded).suffixes)
    return f"{_LAYER_ROOT[kind]}/{shot.channel}/{_stem(plan, frame, shot.channel)}{suffix}"


def lidar_path(plan: ScenePlan, frame: RecordedFrame) -> str:
    """Return where the virtual LIDAR_TOP of a keyframe lies."""
    return f"samples/{BEV_CHANNEL}/{_stem(plan, frame, BEV_CHANNEL)}.pcd.bin"


def map_path(town: str) -> str:
    """Return where the map mask of a town lies."""
    return f"maps/{town}.png"


def final_paths(recording: Recording) -> dict[str, str]:
    """Return, for every image of the recording: path in its folder -> path in the data set."""
    plan, moves = recording.plan, {}
    for frame in recording.frames:
        for shot in frame.shots:
            if shot.rgb is not None:
                moves[shot.rgb] = image_path(plan, frame, shot)
            for kind, recorded in layers(shot):
                moves[recorded] = layer_path(plan, frame, shot, kind=kind, recorded=recorded)
    return moves


def layers(shot: CameraShot) -> list[tuple[LayerKind, str]]:
    """Return what was taken at the same pose beside the image."""
    taken: list[tuple[LayerKind, str | None]] = [
        ("instance", shot.mask),
        ("depth", shot.depth),
        ("lidar", shot.lidar),
        ("degraded", shot.degradation.get("file")),
    ]
    return [(kind, path) for kind, path in taken if path is not None]


def _stem(plan: ScenePlan, frame: RecordedFrame, channel: str) -> str:
    return f"{plan.scene_name}__{channel}__{frame.timestamp_us}"
