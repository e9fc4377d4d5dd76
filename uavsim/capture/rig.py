"""Where every camera of the rig has to be for where the drones are: pure arithmetic.

The simulator takes float32 locations and Euler angles. A pose is rounded to those once, here, and what is recorded is the
rounded pose read back: the image and its label come from the very same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState
from uavsim.simulate.ports import CameraPose
from uavsim.typing import FloatArray

__all__ = ["camera_poses", "sensor_poses"]

_GRID = 1024.0
_NEAR_GRID_DEG = 1e-5  # decoding Euler angles costs about 1e-6 degree near pitch -90; planned angles are on the grid


def camera_poses(plan: ScenePlan, drones: Sequence[DroneState]) -> list[CameraPose]:
    """Return the pose of every camera of every drone, in the order of ``plan.channels``.

    Args:
        plan: its rig says how cameras sit on a drone.
        drones: where the drones are.
    """
    flu_SE3_camera = SE3.stack([spec.flu_SE3_camera for spec in plan.rig])
    poses: list[CameraPose] = []
    for drone in drones:
        names = [(plan.channel(camera=spec.name, drone_id=drone.drone_id), spec.name) for spec in plan.rig]
        poses += _mounted(drone, flu_SE3_camera, names)
    return poses


def sensor_poses(plan: ScenePlan, drones: Sequence[DroneState]) -> list[CameraPose]:
    """Return the poses of all cameras, then of all lidars.

    Args:
        plan: its rig says how sensors sit on a drone.
        drones: where the drones are.
    """
    poses = camera_poses(plan, drones)
    if plan.lidar is not None:
        flu_SE3_lidar = SE3.stack([plan.lidar.flu_SE3_lidar])
        for drone in drones:
            poses += _mounted(drone, flu_SE3_lidar, [(plan.lidar_channel(drone.drone_id), "")])
    return poses


def _mounted(drone: DroneState, flu_SE3_sensor: SE3, names: Sequence[tuple[str, str]]) -> list[CameraPose]:
    """Place (N,) sensors, each named by its channel and its camera, on a drone."""
    ue_location_m, ue_euler_deg = _as_sent(drone.map_SE3_flu @ flu_SE3_sensor)
    map_SE3_optical = unreal.map_SE3_optical_from_ue(ue_location_m, ue_euler_deg=ue_euler_deg)
    return [
        CameraPose(
            channel=channel,
            drone_id=drone.drone_id,
            camera=camera,
            ue_location_m=ue_location_m[row],
            ue_euler_deg=(float(ue_euler_deg[row, 0]), float(ue_euler_deg[row, 1]), float(ue_euler_deg[row, 2])),
            map_SE3_optical=map_SE3_optical[row],
        )
        for row, (channel, camera) in enumerate(names)
    ]


def _as_sent(map_SE3_sensor: SE3) -> tuple[FloatArray, FloatArray]:
    """Round (N,) poses to what the wire carries: (N, 3) locations and (N, 3) roll, pitch, yaw, float32-exact."""
    euler_deg = unreal.ue_euler_from_map_q_flu(map_SE3_sensor.quat_wxyz)
    snapped = np.round(euler_deg * _GRID) / _GRID
    euler_deg = np.where(np.abs(euler_deg - snapped) < _NEAR_GRID_DEG, snapped, euler_deg)
    location_m = unreal.ue_vector_from_map(map_SE3_sensor.translation_m)
    return location_m.astype(np.float32).astype(np.float64), euler_deg.astype(np.float32).astype(np.float64)
