"""nuScenes' CAN bus expansion of one agent, ``can_bus/<scene>_<message>.json``.

Of a vehicle whose state is recorded at every tick all six messages are written, at the original's rates, from a spline through
its poses. Of other agents only ``pose``, from the poses of their LIDAR_TOP, at the same 50 Hz: ScenarioNet takes every fifth
message for a tenth of a second. Accelerations are what an accelerometer reads, +9.81 upwards at rest, as in the original.
Steering and wheels are those of the motion, seen by a car of the original's measures; battery and torque are modelled.
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
_WHEELBASE_M: Final = 2.588  # of a Renault Zoe, as the next ones are
_TRACK_M: Final = 1.51
_WHEEL_M: Final = 0.31
_STEERING_RATIO: Final = 15.0
_GEAR_RATIO: Final = 9.32
_MASS_KG: Final = 1_500.0
_SLOWEST_MPS: Final = 0.5
_RIGHT, _LEFT = 0x10, 0x20  # CARLA's VehicleLightState: blinkers


def pose_messages(poses: Sequence[JsonDict]) -> list[JsonDict]:
    """Return ``pose`` of an agent whose motion is not recorded, between its rows of ``ego_pose`` in the order of time.

    Positions and velocities are the rows' own at their times; between two it moves on the cubic that meets both.
    """
    times_us = [int(row["timestamp"]) for row in poses]
    if len(poses) == 1:  # it goes straight on
        (row,) = poses
        further = np.add(row["translation"], row["uav_velocity"])
        poses = [row, {**row, "timestamp": times_us[0] + 1_000_000, "translation": further}]
    knots_s = np.array([int(row["timestamp"]) - times_us[0] for row in poses]) / 1e6
    map_m, map_mps, turn = (
        np.array([row[name] for row in poses], dtype=np.float64) for name in ("translation", "uav_velocity", "rotation")
    )
    way = CubicHermiteSpline(knots_s, map_m, map_mps)
    turns = RotationSpline(knots_s, Rotation.from_quat(turn, scalar_first=True))
    at_us = np.arange(times_us[0], times_us[-1] + 1, round(1e6 / _RATES_HZ["pose"]), dtype=np.int64)
    at_s = (at_us - times_us[0]) / 1e6
    moves = way(at_s), way(at_s, 1), way(at_s, 2), turns(at_s), turns(at_s, 1)
    return _messages(at_us, _pose(CarrierMotion(at_us, *moves, DEFAULT_ORIGIN_DEG_M)))


def vehicle_messages(states: npt.NDArray[Any]) -> dict[str, list[JsonDict]]:
    """Return every message by its name, of a vehicle's (N,) states, N > 1, at even steps of time."""
    first_us, last_us = (int(states["timestamp_us"][place]) for place in (0, -1))
    way = SE3(states["quat_wxyz"], states["position_map_m"])
    step_us = (last_us - first_us) // max(len(states) - 1, 1)
    track = Track(way, step_us=step_us, start_us=first_us)
    found: dict[str, list[JsonDict]] = {}
    for name, rate_hz in _RATES_HZ.items():
        at_us = np.arange(first_us, last_us + 1, round(1e6 / rate_hz), dtype=np.int64)
        found[name] = _messages(at_us, _COLUMNS[name](_Car(track.at(at_us), states)))
    return found


def meta(messages: Mapping[str, Sequence[JsonDict]]) -> JsonDict:
    """Return the message ``meta``: how many messages there are of each kind, how often, and what their values are like."""
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
        name: np.asarray(of(values, axis=0)).tolist()
        for name, of in (("max", np.max), ("mean", np.mean), ("min", np.min), ("std", np.std))
    }


class _Car:
    """A car's motion at some times, and what its instruments show of it."""

    def __init__(self, motion: CarrierMotion, states: npt.NDArray[Any]) -> None:
        self.motion = motion
        self.velocity_flu_mps = np.asarray(motion.turn.apply(motion.velocity_map_mps, inverse=True))
        self.felt_flu_mps2 = motion.specific_force_flu_mps2
        self.speed_mps = np.linalg.norm(motion.velocity_map_mps[:, :2], axis=1)
        self.yaw_rate_radps = motion.turning_flu_radps[:, 2]
        seconds = (motion.timestamp_us - states["timestamp_us"][0]) / 1e6
        self.distance_m = np.concatenate([[0.0], np.cumsum(self.speed_mps[:-1] * np.diff(seconds))])
        row = np.maximum(np.searchsorted(states["timestamp_us"], motion.timestamp_us, side="right") - 1, 0)
        self.state: npt.NDArray[Any] = states[row]
        self.steering_rad = self._steering(seconds)
        changes = len(seconds) > 1
        self.steering_speed_radps = np.gradient(self.steering_rad, seconds) if changes else np.zeros(len(seconds))

    def _steering(self, seconds: FloatArray) -> FloatArray:
        """Return the angle of the steering wheel, right is positive; where the car stands, as it was before or is after."""
        moves = self.velocity_flu_mps[:, 0] > _SLOWEST_MPS
        if not moves.any():
            return np.zeros(len(seconds))
        front = np.arctan(_WHEELBASE_M * self.yaw_rate_radps[moves] / self.velocity_flu_mps[moves, 0])
        return np.asarray(np.interp(seconds, seconds[moves], -_STEERING_RATIO * front))

    def wheel_rpm(self, side: float) -> FloatArray:
        """Return a rear wheel's rounds a minute; ``side`` is -1 left, 1 right."""
        along_mps = self.velocity_flu_mps[:, 0] + side * self.yaw_rate_radps * _TRACK_M / 2
        return np.asarray(along_mps / (2 * np.pi * _WHEEL_M) * 60)

    @property
    def torque_nm(self) -> FloatArray:
        """Torque of the motor that accelerates so."""
        return np.clip(_MASS_KG * self.felt_flu_mps2[:, 0] * _WHEEL_M / _GEAR_RATIO, -400.0, 1647.0)


def _imu(car: _Car) -> dict[str, AnyArray]:
    return {
        "linear_accel": car.felt_flu_mps2,
        "q": car.motion.turn.as_quat(scalar_first=True),
        "rotation_rate": car.motion.turning_flu_radps,
    }


def _pose(motion: CarrierMotion) -> dict[str, AnyArray]:
    """Return the columns of ``pose`` in nuScenes' order, which is part of the format: converters flatten a message."""
    return {
        "accel": motion.specific_force_flu_mps2,
        "orientation": motion.turn.as_quat(scalar_first=True),
        "pos": motion.position_map_m,
        "rotation_rate": motion.turning_flu_radps,
        "vel": motion.turn.apply(motion.velocity_map_mps, inverse=True),
    }


def _monitor(car: _Car) -> dict[str, AnyArray]:
    brake, lights = car.state["brake"], car.state["lights"]
    battery = np.maximum(80.0 - car.distance_m / 3_000.0, 0.0)  # 300 km with a full one
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
    nothing = np.zeros(len(car.speed_mps), dtype=np.int64)
    throttle = np.rint(car.state["throttle"] * 1000).astype(np.int64)
    coasts = (car.state["throttle"] == 0) & (car.state["brake"] == 0) & (car.speed_mps > _SLOWEST_MPS)
    turned = 1.0 / np.maximum(np.cos(car.steering_rad / _STEERING_RATIO), 0.5)  # a front wheel's way is longer
    degrees = np.degrees(car.steering_rad)
    return {
        "FL_wheel_speed": car.wheel_rpm(-1) * turned,
        "FR_wheel_speed": car.wheel_rpm(1) * turned,
        "RL_wheel_speed": car.wheel_rpm(-1),
        "RR_wheel_speed": car.wheel_rpm(1),
        "left_solar": nothing,
        "longitudinal_accel": np.round(car.felt_flu_mps2[:, 0] / 0.05) * 0.05,
        "meanEffTorque": np.round(car.torque_nm * 2) / 2,
        "odom": np.floor(car.distance_m * 100 % 124).astype(np.int64),
        "odom_speed": car.speed_mps * 3.6,
        "pedal_cc": throttle,
        "regen": np.where(coasts, 100, 0),
        "requestedTorqueAfterProc": np.round(car.torque_nm * 2) / 2,
        "right_solar": nothing,
        "steer_corrected": degrees,
        "steer_offset_can": nothing.astype(np.float64),
        "steer_raw": degrees,
        "transversal_accel": np.round(car.felt_flu_mps2[:, 1] / GRAVITY_MPS2 / 0.004) * 0.004,
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
