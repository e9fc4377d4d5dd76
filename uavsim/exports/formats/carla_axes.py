"""Poses, cameras and point clouds in CARLA's left-handed axes: metres, degrees, ``[x, y, z, roll, yaw, pitch]``.

Source: OpenCOOD ``opencood/utils/transformation_utils.py``, ``opencood/utils/pcd_utils.py``.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from uavsim.access import Image, LidarScan
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

_EVERY_PX: Final = 4
_FULL_INTENSITY: Final = 0xFFFFFF  # red, green and blue of 255: intensity 1


def pose(map_SE3_flu: SE3) -> list[float]:
    """Return a body's pose."""
    return _listed(map_SE3_flu, unreal.ue_euler_from_map_q_flu(map_SE3_flu.quat_wxyz))


def pose_of_camera(image: Image) -> tuple[list[float], FloatArray]:
    """Return a camera's pose with x ahead, and its (4, 4) matrix to the world."""
    map_SE3_optical = image.map_SE3_optical
    euler_deg = unreal.ue_euler_from_map_q_optical(map_SE3_optical.quat_wxyz)
    map_SE3_ahead = SE3(unreal.map_q_flu_from_ue_euler(euler_deg), map_SE3_optical.translation_m)
    return _listed(map_SE3_optical, euler_deg), ue_transform(map_SE3_ahead)


def _listed(map_SE3_any: SE3, euler_deg: FloatArray) -> list[float]:
    roll, pitch, yaw = euler_deg.tolist()
    return [*unreal.ue_vector_from_map(map_SE3_any.translation_m).tolist(), roll, yaw, pitch]


def ue_transform(map_SE3_flu: SE3) -> FloatArray:
    """Return the (4, 4) matrix from a body's axes to the world."""
    matrix = np.eye(4)
    matrix[:3, :3] = unreal.ue_matrix(unreal.ue_euler_from_map_q_flu(map_SE3_flu.quat_wxyz))
    matrix[:3, 3] = unreal.ue_vector_from_map(map_SE3_flu.translation_m)
    return matrix


def points_of_lidar(scan: LidarScan) -> FloatArray:
    """Return (N, 3) points of an agent's lidar in the agent's own frame."""
    return unreal.ue_vector_from_map(scan.flu_SE3_sensor.apply(scan.points()[:, :3].astype(np.float64)))


def points_of_depth(images: Iterable[Image]) -> FloatArray:
    """Return (N, 3) points that the depth images show, in the agent's own frame."""
    clouds = [np.zeros((0, 3))]
    for image in images:
        if "depth" in image.layers:
            depth_m = image.depth_m()[::_EVERY_PX, ::_EVERY_PX]
            v, u = np.indices(depth_m.shape) * _EVERY_PX + 0.5
            near = np.isfinite(depth_m)
            rays = image.rays(np.stack([u[near], v[near]], axis=1))
            optical_m = rays * depth_m[near][:, None]
            clouds.append(image.flu_SE3_optical.apply(optical_m))
    return unreal.ue_vector_from_map(np.concatenate(clouds))  # flu to the left-handed body: y flips, as for the map


def pcd(points_m: FloatArray) -> bytes:
    """Return (N, 3) points as PCD; OpenCOOD takes the intensity from the red of a colour, and fails on a cloud without one."""
    count = len(points_m)
    head = (
        "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F F\n"
        f"COUNT 1 1 1 1\nWIDTH {count}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {count}\nDATA binary\n"
    )
    rows = np.empty(count, dtype=np.dtype([("place", "<f4", 3), ("rgb", "<u4")]))
    rows["place"], rows["rgb"] = points_m, _FULL_INTENSITY
    return head.encode("ascii") + rows.tobytes()
