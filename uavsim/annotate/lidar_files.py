"""Writes the points of LIDAR_TOP and nuScenes-lidarseg's point labels.

LIDAR_TOP lies on the ground under drone 0 and has its heading: it is the centre of the evaluations' range, and the one channel
that the devkit requires. Its points are those of drone 0's lidar; without one, those of drone 0's depth cameras (intensity is
then the semantic tag, ring the camera's number); without depth, those of the first ground lidar. Without any, the file is
empty, which the devkit and its evaluations accept as long as no points have labels.
"""

from pathlib import Path
from typing import Final

import numpy as np

from uavsim.annotate.lidar import PointLabels
from uavsim.dataset import layout, versions_of
from uavsim.dataset.strict import map_SE3_bev
from uavsim.files.whole import storage_errors
from uavsim.images import codec, mask_pixels, points
from uavsim.images.points import PointArray
from uavsim.records.modalities import DEPTH, INSTANCE, LIDAR, LIDAR_INSTANCE
from uavsim.records.recording import DroneState, RecordedFrame, Recording, SensorReading
from uavsim.records.sensors import Agent
from uavsim.typing import FloatArray

_EVERY_PX: Final = 4
_FARTHEST_M: Final = 250.0


def write_lidar_files(recording: Recording) -> dict[str, str]:
    """Write LIDAR_TOP's points and all point labels into the recording's folder.

    Returns:
        Path in the recording's folder -> path in the dataset, like ``layout.final_paths``.

    Raises:
        StorageError: the folder cannot be written.
        DatasetError: a file of the recording is missing or damaged.
    """
    plan, moves = recording.plan, dict[str, str]()
    labels = PointLabels(recording)
    for frame in recording.frames:
        if frame.sample_index is None:
            continue
        final = layout.lidar_path(plan, frame)
        relative = f"lidar_top/{Path(final).name}"
        top = lidar_top_points(recording, frame)
        _write(recording.folder / relative, points.encode_points(top))
        moves[relative] = final
        scans, ego_scan = frame.with_modality(LIDAR_INSTANCE), _top_scan(frame)
        of_channel = {scan.channel: labels.of_scan(scan) for scan in scans}
        if scans:  # points of depth cameras have tags
            of_channel[layout.BEV_CHANNEL] = (
                of_channel[ego_scan.channel] if ego_scan else labels.of_tags(top[:, 3].astype(int))
            )
        for channel, data in of_channel.items():
            for version in versions_of(plan):
                path = layout.lidarseg_path(plan, frame, channel=channel, version=version)
                _write(recording.folder / path, data.tobytes())
                moves[path] = path
    return moves


def lidar_top_points(recording: Recording, frame: RecordedFrame) -> PointArray:
    """Return (N, 5) float32 x, y, z, intensity, ring of a keyframe; x, y, z in the frame of LIDAR_TOP, metres."""
    ego, scan = frame.drones[0], _top_scan(frame)
    if scan is not None:
        cloud = points.decode_points(recording.folder / scan.files[LIDAR])
        bev_m = map_SE3_bev(ego).apply_inverse(scan.map_SE3_sensor.apply(cloud[:, :3].astype(np.float64)))
        return np.concatenate([bev_m, cloud[:, 3:]], axis=1).astype(np.float32)
    cameras = [reading for reading in frame.cameras if _is_of_ego(frame, reading)]
    clouds = [
        _of_depth(recording.folder, reading, ego, ring=ring)
        for ring, reading in enumerate(cameras)
        if DEPTH in reading.files
    ]
    return np.concatenate([np.zeros((0, 5), dtype=np.float32), *clouds])


def _top_scan(frame: RecordedFrame) -> SensorReading | None:
    """Return the scan that supplies LIDAR_TOP; None if depth cameras or nothing do."""
    scans = frame.with_modality(LIDAR)
    ego_scan = next((scan for scan in scans if _is_of_ego(frame, scan)), None)
    if ego_scan is not None or any(_is_of_ego(frame, reading) and DEPTH in reading.files for reading in frame.cameras):
        return ego_scan
    return next(iter(scans), None)


def _is_of_ego(frame: RecordedFrame, reading: SensorReading) -> bool:
    return reading.sensor.agent == Agent(frame.drones[0].drone_id)


def _of_depth(folder: Path, reading: SensorReading, ego: DroneState, *, ring: int) -> PointArray:
    depth_m = codec.decode_depth(folder / reading.files[DEPTH])[::_EVERY_PX, ::_EVERY_PX]
    tags = np.zeros(depth_m.shape, np.uint8)
    if INSTANCE in reading.files:
        tags = mask_pixels.decode(folder / reading.files[INSTANCE])[1][::_EVERY_PX, ::_EVERY_PX]
    v, u = np.indices(depth_m.shape) * _EVERY_PX + 0.5
    near = depth_m < _FARTHEST_M
    rays = reading.camera.rays(np.stack([u[near], v[near]], axis=1))
    optical_m: FloatArray = rays * depth_m[near][:, None]
    bev_m = map_SE3_bev(ego).apply_inverse(reading.map_SE3_sensor.apply(optical_m))
    rest = np.stack([tags[near], np.full(near.sum(), ring)], axis=1)
    return np.concatenate([bev_m, rest], axis=1).astype(np.float32)


def _write(path: Path, data: bytes) -> None:
    with storage_errors(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
