"""File paths in a dataset: ``samples/``, ``sweeps/`` and the folders of modalities."""

from typing import Final

from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.records.modalities import modalities, modality
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import RecordedFrame, Recording, SensorReading

BEV_CHANNEL: Final = "LIDAR_TOP"
LIDARSEG: Final = "lidarseg"  # folder and table of point labels, nuScenes' name
_DEGRADED: Final = "degraded"


def file_path(plan: ScenePlan, frame: RecordedFrame, reading: SensorReading, *, name: str) -> str:
    """Return the dataset path of a reading's file of modality ``name``.

    A channel's own files are in ``samples/`` at keyframes and in ``sweeps/`` between them, others in the modality's folder.
    """
    root = modality(name).folder or ("sweeps" if frame.sample_index is None else "samples")
    return _path(plan, frame, reading.channel, root=root, recorded=reading.files[name])


def main_file_path(plan: ScenePlan, frame: RecordedFrame, reading: SensorReading) -> str:
    """Return the dataset path of a channel's own file: an image or a point cloud."""
    name = reading.sensor.spec.modalities[0]
    if name not in reading.files:
        raise DatasetError(f"{plan.scene_name}: {reading.channel} has no {name} at step {frame.step}")
    return file_path(plan, frame, reading, name=name)


def degraded_path(plan: ScenePlan, frame: RecordedFrame, reading: SensorReading) -> str:
    """Return the dataset path of the degraded copy of an image."""
    return _path(plan, frame, reading.channel, root=_DEGRADED, recorded=reading.degradation["file"])


def lidar_path(plan: ScenePlan, frame: RecordedFrame) -> str:
    """Return the dataset path of LIDAR_TOP's points at a keyframe."""
    return f"samples/{BEV_CHANNEL}/{_stem(plan, frame, BEV_CHANNEL)}.pcd.bin"


def lidarseg_path(plan: ScenePlan, frame: RecordedFrame, *, channel: str, version: str) -> str:
    """Return the dataset path of a lidar channel's point labels at a keyframe.

    nuScenes' name is ``<token>_lidarseg.bin``; uavsim prepends the scene's name, which identifies the scene's files.
    """
    data_token = token(plan.dataset, plan.scene_name, "sample_data", channel, frame.timestamp_us)
    return f"{LIDARSEG}/{version}/{plan.scene_name}__{data_token}_lidarseg.bin"


def map_path(town: str) -> str:
    """Return the dataset path of a town's map mask."""
    return f"maps/{town}.png"


def final_paths(recording: Recording) -> dict[str, str]:
    """Return the dataset path of every file of a recording by its path in the recording's folder."""
    plan = recording.plan
    moves: dict[str, str] = {}
    for frame in recording.frames:
        for reading in frame.readings:
            moves |= {path: file_path(plan, frame, reading, name=name) for name, path in reading.files.items()}
            if "file" in reading.degradation:
                moves[reading.degradation["file"]] = degraded_path(plan, frame, reading)
    return moves


def layers(plan: ScenePlan, frame: RecordedFrame, reading: SensorReading) -> list[tuple[str, str]]:
    """Return (kind, dataset path) of a reading's layers, in the registry's order."""
    beside = [m.name for m in modalities().values() if m.folder and m.name in reading.files]
    found = [(name, file_path(plan, frame, reading, name=name)) for name in beside]
    if "file" in reading.degradation:
        found.append((_DEGRADED, degraded_path(plan, frame, reading)))
    return found


def _path(plan: ScenePlan, frame: RecordedFrame, channel: str, *, root: str, recorded: str) -> str:
    _, dot, suffix = recorded.rpartition("/")[2].partition(".")
    return f"{root}/{channel}/{_stem(plan, frame, channel)}{dot}{suffix}"


def _stem(plan: ScenePlan, frame: RecordedFrame, channel: str) -> str:
    return f"{plan.scene_name}__{channel}__{frame.timestamp_us}"
