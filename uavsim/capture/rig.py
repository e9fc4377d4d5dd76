"""Poses of all sensors of all agents.

The simulator takes float32 locations and Euler angles. A pose is rounded to those once, here, and the rounded pose is
recorded: measurement and label come from the same numbers.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import AgentState, DroneState
from uavsim.records.sensors import Sensor
from uavsim.simulate.ports import SensorPose
from uavsim.simulate.swarm import on_grid
from uavsim.typing import FloatArray

_NEAR_GRID_DEG = 1e-5  # conversion to Euler angles costs about 1e-6 degree near pitch -90; planned angles are gridded


def sensor_poses(
    plan: ScenePlan, states: Sequence[DroneState | AgentState], sensors: Sequence[Sensor] | None = None
) -> list[SensorPose]:
    """Return the poses of the sensors of the given agents, in the order of ``plan.sensors``.

    Args:
        plan: plan with the rigs' mounts.
        states: poses of the agents.
        sensors: a subset of the plan's sensors; default: all.
    """
    state_of = {state.agent: state for state in states}
    candidates = plan.sensors if sensors is None else sensors
    sensors = tuple(sensor for sensor in candidates if sensor.agent in state_of)
    if not sensors:
        return []
    carriers = [state_of[sensor.agent] for sensor in sensors]
    map_SE3_mount = SE3.stack([state.map_SE3_flu for state in carriers]) @ _mounts(sensors)
    ue_location_m, ue_euler_deg = _as_sent(map_SE3_mount)
    map_SE3_optical = unreal.map_SE3_optical_from_ue(ue_location_m, ue_euler_deg=ue_euler_deg)
    return [
        SensorPose(
            sensor=sensor,
            ue_location_m=ue_location_m[row],
            ue_euler_deg=(float(ue_euler_deg[row, 0]), float(ue_euler_deg[row, 1]), float(ue_euler_deg[row, 2])),
            map_SE3_optical=map_SE3_optical[row],
            velocity_map_mps=carriers[row].velocity_map_mps,
        )
        for row, sensor in enumerate(sensors)
    ]


@lru_cache(maxsize=8)
def _mounts(sensors: tuple[Sensor, ...]) -> SE3:
    """Return the (N,) mount transforms of sensors, cached."""
    return SE3.stack([sensor.spec.flu_SE3_mount for sensor in sensors])


def _as_sent(map_SE3_sensor: SE3) -> tuple[FloatArray, FloatArray]:
    """Round (N,) poses to float32: (N, 3) locations, metres, and (N, 3) roll, pitch, yaw, degrees, in CARLA's frame."""
    euler_deg = unreal.ue_euler_from_map_q_flu(map_SE3_sensor.quat_wxyz)
    snapped = on_grid(euler_deg)
    euler_deg = np.where(np.abs(euler_deg - snapped) < _NEAR_GRID_DEG, snapped, euler_deg)
    location_m = unreal.ue_vector_from_map(map_SE3_sensor.translation_m)
    return location_m.astype(np.float32).astype(np.float64), euler_deg.astype(np.float32).astype(np.float64)
