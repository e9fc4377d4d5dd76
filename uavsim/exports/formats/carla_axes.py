"""Poses, cameras and point clouds in CARLA's left-handed axes: metres, degrees, ``[x, y, z, roll, yaw, pitch]``.

Source: OpenCOOD ``opencood/utils/transformation_utils.py``, ``opencood/utils/pcd_utils.py``.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from uavsim.access import Image, LidarScan
from uavsim.exports.formats.point_clouds import pcd_bytes
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

_STEP_PX: Final = 4  # stride over depth pixels
_WHITE: Final = 0xFFFFFF


def pose(map_SE3_flu: SE3) -> list[float]:
    """Return the pose of a body, ``[x, y, z, roll, yaw, pitch]``, metres and degrees."""
    return _listed(map_SE3_flu, unreal.ue_euler_from_map_q_flu(map_SE3_flu.quat_wxyz))


def pose_of_camera(image: Image) -> tuple[list[float], FloatArray]:
    """Return the pose of a camera with x ahead, in CARLA's axes, and its (4, 4) ``world_T_camera``."""
    map_SE3_optical = image.map_SE3_optical
    euler_deg = unreal.ue_euler_from_map_q_optical(map_SE3_optical.quat_wxyz)
    map_SE3_ahead = SE3(unreal.map_q_flu_from_ue_euler(euler_deg), map_SE3_optical.translation_m)
    return _listed(map_SE3_optical, euler_deg), ue_transform(map_SE3_ahead)


def _listed(map_SE3_any: SE3, euler_deg: FloatArray) -> list[float]:
    roll, pitch, yaw = euler_deg.tolist()
    return [*unreal.ue_vector_from_map(map_SE3_any.translation_m).tolist(), roll, yaw, pitch]


def ue_transform(map_SE3_flu: SE3) -> FloatArray:
    """Return the (4, 4) ``world_T_body`` in CARLA's left-handed axes, metres."""
    matrix = np.eye(4)
    matrix[:3, :3] = unreal.ue_matrix(unreal.ue_euler_from_map_q_flu(map_SE3_flu.quat_wxyz))
    matrix[:3, 3] = unreal.ue_vector_from_map(map_SE3_flu.translation_m)
    return matrix


def points_of_lidar(scan: LidarScan) -> FloatArray:
    """Return (N, 3) points of an agent's lidar in the agent's left-handed body frame, metres."""
    return unreal.ue_vector_from_map(scan.flu_SE3_sensor.apply(scan.points()[:, :3].astype(np.float64)))


def points_of_depth(images: Iterable[Image]) -> FloatArray:
    """Return (N, 3) points of an agent's depth images in the agent's left-handed body frame, metres."""
    clouds = [np.zeros((0, 3))]
    for image in images:
        if "depth" in image.layers:
            depth_m = image.depth_m()[::_STEP_PX, ::_STEP_PX]
            v, u = np.indices(depth_m.shape) * _STEP_PX + 0.5
            near = np.isfinite(depth_m)
            rays = image.rays(np.stack([u[near], v[near]], axis=1))
            optical_m = rays * depth_m[near][:, None]
            clouds.append(image.flu_SE3_optical.apply(optical_m))
    return unreal.ue_vector_from_map(np.concatenate(clouds))  # flu to left-handed axes flips y, as for the map


def pcd(points_m: FloatArray) -> bytes:
    """Return (N, 3) points as PCD with a white colour, because OpenCOOD reads the intensity from the colour's red."""
    return pcd_bytes(points_m, np.full(len(points_m), _WHITE, dtype="<u4"), field="rgb")
