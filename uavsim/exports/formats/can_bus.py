"""nuScenes' CAN bus expansion of one agent, ``can_bus/<scene>_<message>.json``.

A vehicle with a recorded state at every tick has all six messages at nuScenes' rates, from a spline through its poses.
Other agents have only ``pose`` at 50 Hz, from the poses of their LIDAR_TOP; ScenarioNet takes every fifth message as a step of
0.1 s. Accelerations are specific forces, +9.81 m/s^2 upwards at rest, as in nuScenes. Steering and wheel speeds follow from
the motion and the dimensions of nuScenes' car; battery and torque are modelled.
Source: nuscenes-devkit, can_bus/README.md.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, RotationSpline

from uavsim.geometry.geographic import DEFAULT_ORIGIN_DEG_M
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.flight_sensors.carrier_motion import GRAVITY_MPS2, CarrierMotion, Track
from uavsim.typing import AnyArray, FloatArray, IntArray, JsonDict

_RATES_HZ: Final = {
    "ms_imu": 100.0,
    "pose": 50.0,
    "steeranglefeedback": 100.0,
    "vehicle_monitor": 2.0,
    "zoesensors": 800.0,
    "zoe_veh_info": 100.0,
}
_WHEELBASE_M: Final = 2.588  # this and the next values: Renault Zoe
_TRACK_M: Final = 1.51
_WHEEL_M: Final = 0.31
_STEERING_RATIO: Final = 15.0
_GEAR_RATIO: Final = 9.32
_MASS_KG: Final = 1_500.0
_SLOWEST_MPS: Final = 0.5
_RIGHT, _LEFT = 0x10, 0x20  # CARLA's VehicleLightState: blinkers


def pose_messages(poses: Sequence[JsonDict]) -> list[JsonDict]:
    """Return ``pose`` messages of an agent, interpolated between its rows of ``ego_pose``.

    Args:
        poses: rows of ``ego_pose`` with ``uav_velocity``, ascending in time. Positions follow cubic Hermite splines.
    """
    times_us = [int(row["timestamp"]) for row in poses]
    if len(poses) == 1:  # continue straight ahead
        (row,) = poses
        ahead = np.add(row["translation"], row["uav_velocity"])
        poses = [row, {**row, "timestamp": times_us[0] + 1_000_000, "translation": ahead}]
    knots_s = np.array([int(row["timestamp"]) - times_us[0] for row in poses]) / 1e6
    map_m, map_mps, quat_wxyz = (
        np.array([row[name] for row in poses], dtype=np.float64) for name in ("translation", "uav_velocity", "rotation")
    )
    position = CubicHermiteSpline(knots_s, map_m, map_mps)
    rotation = RotationSpline(knots_s, Rotation.from_quat(quat_wxyz, scalar_first=True))
    at_us = np.arange(times_us[0], times_us[-1] + 1, round(1e6 / _RATES_HZ["pose"]), dtype=np.int64)
    at_s = (at_us - times_us[0]) / 1e6
    motion = position(at_s), position(at_s, 1), position(at_s, 2), rotation(at_s), rotation(at_s, 1)
    return _messages(at_us, _pose(CarrierMotion(at_us, *motion, DEFAULT_ORIGIN_DEG_M)))


def vehicle_messages(states: npt.NDArray[Any]) -> dict[str, list[JsonDict]]:
    """Return all messages of a vehicle by name.

    Args:
        states: (N,) recorded states, N > 1, evenly spaced in time.
    """
    first_us, last_us = (int(states["timestamp_us"][row]) for row in (0, -1))
    poses = SE3(states["quat_wxyz"], states["position_map_m"])
    step_us = (last_us - first_us) // max(len(states) - 1, 1)
    track = Track(poses, step_us=step_us, start_us=first_us)
    messages: dict[str, list[JsonDict]] = {}
    for name, rate_hz in _RATES_HZ.items():
        at_us = np.arange(first_us, last_us + 1, round(1e6 / rate_hz), dtype=np.int64)
        messages[name] = _messages(at_us, _COLUMNS[name](_Car(track.at(at_us), states)))
    return messages


def meta(messages: Mapping[str, Sequence[JsonDict]]) -> JsonDict:
    """Return the message ``meta``: count, frequency, time span and value statistics of each kind of message."""
    return {name: _meta(rows) for name, rows in messages.items()}


def _meta(rows: Sequence[JsonDict]) -> JsonDict:
    span_s = (rows[-1]["utime"] - rows[0]["utime"]) / 1e6
    values = {key: np.array([row[key] for row in rows], dtype=np.float64) for key in rows[0]}
    return {
        "message_count": len(rows),
        "message_freq": len(rows) / span_s if span_s else 0.0,
        "timespan": span_s,
        "var_stats": {key: _stats(table) | {"diff": _stats(np.diff(table, axis=0))} for key, table in values.items()},
    }


def _stats(values: FloatArray) -> JsonDict:
    if not len(values):
        return {}
    return {
        name: np.asarray(function(values, axis=0)).tolist()
        for name, function in (("max", np.max), ("mean", np.mean), ("min", np.min), ("std", np.std))
    }


class _Car:
    """A car's motion and instruments at (N,) times."""

    def __init__(self, motion: CarrierMotion, states: npt.NDArray[Any]) -> None:
        self.motion = motion
        self.velocity_flu_mps = np.asarray(motion.turn.apply(motion.velocity_map_mps, inverse=True))
        self.specific_force_flu_mps2 = motion.specific_force_flu_mps2
        self.speed_mps = np.linalg.norm(motion.velocity_map_mps[:, :2], axis=1)
        self.yaw_rate_radps = motion.turning_flu_radps[:, 2]
        seconds = (motion.timestamp_us - states["timestamp_us"][0]) / 1e6
        self.distance_m = np.concatenate([[0.0], np.cumsum(self.speed_mps[:-1] * np.diff(seconds))])
        row = np.maximum(np.searchsorted(states["timestamp_us"], motion.timestamp_us, side="right") - 1, 0)
        self.state: npt.NDArray[Any] = states[row]
        self.steering_rad = self._steering(seconds)
        several = len(seconds) > 1
        self.steering_speed_radps = np.gradient(self.steering_rad, seconds) if several else np.zeros(len(seconds))

    def _steering(self, seconds: FloatArray) -> FloatArray:
        """Return (N,) steering wheel angles in radians, right is positive; interpolated while the car stands."""
        moves = self.velocity_flu_mps[:, 0] > _SLOWEST_MPS
        if not moves.any():
            return np.zeros(len(seconds))
        front = np.arctan(_WHEELBASE_M * self.yaw_rate_radps[moves] / self.velocity_flu_mps[moves, 0])
        return np.asarray(np.interp(seconds, seconds[moves], -_STEERING_RATIO * front))

    def wheel_rpm(self, side: float) -> FloatArray:
        """Return (N,) speeds of a rear wheel in rpm; ``side`` is -1 for left, 1 for right."""
        along_mps = self.velocity_flu_mps[:, 0] + side * self.yaw_rate_radps * _TRACK_M / 2
        return np.asarray(along_mps / (2 * np.pi * _WHEEL_M) * 60)

    @property
    def torque_nm(self) -> FloatArray:
        """(N,) modelled motor torque."""
        return np.clip(_MASS_KG * self.specific_force_flu_mps2[:, 0] * _WHEEL_M / _GEAR_RATIO, -400.0, 1647.0)


def _imu(car: _Car) -> dict[str, AnyArray]:
    return {
        "linear_accel": car.specific_force_flu_mps2,
        "q": car.motion.turn.as_quat(scalar_first=True),
        "rotation_rate": car.motion.turning_flu_radps,
    }


def _pose(motion: CarrierMotion) -> dict[str, AnyArray]:
    """Return the columns of ``pose`` in nuScenes' order, on which converters rely."""
    return {
        "accel": motion.specific_force_flu_mps2,
        "orientation": motion.turn.as_quat(scalar_first=True),
        "pos": motion.position_map_m,
        "rotation_rate": motion.turning_flu_radps,
        "vel": motion.turn.apply(motion.velocity_map_mps, inverse=True),
    }


def _monitor(car: _Car) -> dict[str, AnyArray]:
    brake, lights = car.state["brake"], car.state["lights"]
    battery = np.maximum(80.0 - car.distance_m / 3_000.0, 0.0)  # range of 300 km
    return {
        "available_distance": np.rint(battery * 3.0).astype(np.int64),
        "battery_level": np.rint(battery).astype(np.int64),
        "brake": np.rint(brake * 126).astype(np.int64),
        "brake_switch": np.where(brake > 0.1, 3, np.where(brake > 0, 2, 1)),
        "gear_position": np.where(car.state["hand_brake"] > 0, 0, 7),
        "left_signal": (lights & _LEFT > 0).astype(np.int64),
        "rear_left_rpm": car.wheel_rpm(-1),
        "rear_right_rpm": car.wheel_rpm(1),
        "right_signal": (lights & _RIGHT > 0).astype(np.int64),
        "steering": np.round(np.degrees(car.steering_rad), 1),
        "steering_speed": np.round(np.degrees(car.steering_speed_radps), 1),
        "throttle": np.rint(car.state["throttle"] * 1000).astype(np.int64),
        "vehicle_speed": np.round(car.speed_mps * 3.6, 2),
        "yaw_rate": np.round(np.degrees(car.yaw_rate_radps), 1),
    }


def _sensors(car: _Car) -> dict[str, AnyArray]:
    return {
        "brake_sensor": 0.375 + 0.036 * car.state["brake"].astype(np.float64),
        "steering_sensor": np.round(np.degrees(car.steering_rad), 1),
        "throttle_sensor": np.rint(car.state["throttle"] * 1000).astype(np.int64),
    }


def _info(car: _Car) -> dict[str, AnyArray]:
    zeros = np.zeros(len(car.speed_mps), dtype=np.int64)
    throttle = np.rint(car.state["throttle"] * 1000).astype(np.int64)
    coasts = (car.state["throttle"] == 0) & (car.state["brake"] == 0) & (car.speed_mps > _SLOWEST_MPS)
    front_ratio = 1.0 / np.maximum(np.cos(car.steering_rad / _STEERING_RATIO), 0.5)  # front wheels travel farther
    degrees = np.degrees(car.steering_rad)
    return {
        "FL_wheel_speed": car.wheel_rpm(-1) * front_ratio,
        "FR_wheel_speed": car.wheel_rpm(1) * front_ratio,
        "RL_wheel_speed": car.wheel_rpm(-1),
        "RR_wheel_speed": car.wheel_rpm(1),
        "left_solar": zeros,
        "longitudinal_accel": np.round(car.specific_force_flu_mps2[:, 0] / 0.05) * 0.05,
        "meanEffTorque": np.round(car.torque_nm * 2) / 2,
        "odom": np.floor(car.distance_m * 100 % 124).astype(np.int64),
        "odom_speed": car.speed_mps * 3.6,
        "pedal_cc": throttle,
        "regen": np.where(coasts, 100, 0),
        "requestedTorqueAfterProc": np.round(car.torque_nm * 2) / 2,
        "right_solar": zeros,
        "steer_corrected": degrees,
        "steer_offset_can": zeros.astype(np.float64),
        "steer_raw": degrees,
        "transversal_accel": np.round(car.specific_force_flu_mps2[:, 1] / GRAVITY_MPS2 / 0.004) * 0.004,
    }


_COLUMNS: Final[Mapping[str, Callable[[_Car], dict[str, AnyArray]]]] = {
    "ms_imu": _imu,
    "pose": lambda car: _pose(car.motion),
    "steeranglefeedback": lambda car: {"value": car.steering_rad},
    "vehicle_monitor": _monitor,
    "zoesensors": _sensors,
    "zoe_veh_info": _info,
}


def _messages(time_us: IntArray, columns: Mapping[str, AnyArray]) -> list[JsonDict]:
    lists = {name: values.tolist() for name, values in columns.items()}
    return [
        {"utime": utime, **{name: values[row] for name, values in lists.items()}}
        for row, utime in enumerate(time_us.tolist())
    ]
