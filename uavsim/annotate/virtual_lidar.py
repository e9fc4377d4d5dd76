"""Files of the virtual LIDAR_TOP: what its drone's depth cameras see, as points in its ground frame.

float32 rows (x, y, z, intensity, ring) as nuScenes has them; intensity is the semantic tag, ring the camera's number on the
drone. Where no depth was recorded the file is empty, which the devkit and its evaluations accept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from uavsim.dataset import layout
from uavsim.dataset.strict import map_SE3_bev
from uavsim.errors import StorageError
from uavsim.geometry import pinhole
from uavsim.images import codec
from uavsim.records.recording import CameraShot, DroneState, RecordedFrame, Recording
from uavsim.typing import FloatArray

__all__ = ["virtual_lidar_points", "write_virtual_lidar"]

_EVERY_PX: Final = 4
_FARTHEST_M: Final = 250.0


def write_virtual_lidar(recording: Recording) -> dict[str, str]:
    """Write LIDAR_TOP's files into the recording's folder.

    Returns:
        Path in the recording's folder -> path in the data set, like ``layout.final_paths``.

    Raises:
        StorageError: the folder cannot be written.
    """
    moves = {}
    for frame in recording.frames:
        if frame.sample_index is None:
            continue
        final = layout.lidar_path(recording.plan, frame)
        relative = f"lidar_top/{Path(final).name}"
        path = recording.folder / relative
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(virtual_lidar_points(recording, frame).tobytes())
        except OSError as error:
            raise StorageError(f"{path}: cannot be written: {error.strerror}") from error
        moves[relative] = final
    return moves


def virtual_lidar_points(recording: Recording, frame: RecordedFrame) -> npt.NDArray[np.float32]:
    """Return (N, 5) points of one keyframe in the frame of LIDAR_TOP."""
    ego = frame.drones[0]
    shots = [s for s in frame.shots if s.drone_id == ego.drone_id]
    clouds = [_points(recording.folder, shot, ego, ring=ring) for ring, shot in enumerate(shots) if shot.depth]
    return np.concatenate([np.zeros((0, 5), dtype=np.float32), *clouds])


def _points(folder: Path, shot: CameraShot, ego: DroneState, *, ring: int) -> npt.NDArray[np.float32]:
    assert shot.depth is not None
    depth_m = codec.decode_depth(folder / shot.depth)[::_EVERY_PX, ::_EVERY_PX]
    tags = np.zeros(depth_m.shape, np.uint8)
    if shot.mask is not None:
        tags = codec.mask_ids_and_tags(folder / shot.mask)[1][::_EVERY_PX, ::_EVERY_PX]
    v, u = np.indices(depth_m.shape) * _EVERY_PX + 0.5
    near = depth_m < _FARTHEST_M
    rays = pinhole.rays(np.stack([u[near], v[near]], axis=1), intrinsic=shot.intrinsic)
    optical_m: FloatArray = rays * depth_m[near][:, None]
    bev_m = map_SE3_bev(ego).apply_inverse(shot.map_SE3_optical.apply(optical_m))
    rest = np.stack([tags[near], np.full(near.sum(), ring)], axis=1)
    return np.concatenate([bev_m, rest], axis=1).astype(np.float32)
