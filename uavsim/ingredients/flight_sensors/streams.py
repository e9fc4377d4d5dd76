"""Readings of a flight controller's sensors along a planned flight.

Between two steps of the plan a drone moves along the cubic spline through its poses at all steps. It is twice differentiable:
acceleration and turning rate are exact derivatives of the motion that passes through the pose of every image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation, RotationSpline

from uavsim.geometry.se3 import SE3
from uavsim.ingredients.flight_sensors.geodesy import geodetic_from_map
from uavsim.ingredients.flight_sensors.records import Barometer, Gnss, Imu, InertialNoise, Magnetometer
from uavsim.typing import FloatArray, IntArray

__all__ = ["GRAVITY_MPS2", "Motion", "Stream", "barometer", "gnss", "imu", "magnetometer", "reading_times_us"]

Stream: TypeAlias = npt.NDArray[Any]
"""(N,) readings in the order of time; the fields' names carry units, what ends in ``_true`` is without errors."""

GRAVITY_MPS2: Final = 9.81
"""CARLA's and AirSim's; down the map's z."""
_V: Final = ("<f8", (3,))
_IMU: Final = np.dtype(
    [
        ("timestamp_us", "<i8"),
        ("gyroscope_radps", *_V),
        ("accelerometer_mps2", *_V),
        ("gyroscope_true_radps", *_V),
        ("accelerometer_true_mps2", *_V),
        ("position_map_m", *_V),
        ("velocity_map_mps", *_V),
        ("quat_wxyz", "<f8", (4,)),
    ]
)
_GNSS: Final = np.dtype(
    [
        ("timestamp_us", "<i8"),
        ("lat_lon_deg_height_m", *_V),
        ("velocity_map_mps", *_V),
        ("lat_lon_deg_height_m_true", *_V),
        ("velocity_map_true_mps", *_V),
    ]
)
_BAROMETER: Final = np.dtype([("timestamp_us", "<i8"), ("pressure_pa", "<f8"), ("pressure_true_pa", "<f8")])
_MAGNETOMETER: Final = np.dtype([("timestamp_us", "<i8"), ("field_ut", *_V), ("field_true_ut", *_V)])


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Where a drone is at (N,) instants, and how it moves.

    Attributes:
        turn: map <- flu.
        turning_flu_radps: (N, 3) angular velocity in the drone's own frame.
    """

    timestamp_us: IntArray
    position_map_m: FloatArray
    velocity_map_mps: FloatArray
    acceleration_map_mps2: FloatArray
    turn: Rotation
    turning_flu_radps: FloatArray

    @classmethod
    def along(cls, map_SE3_flu: SE3, *, step_us: int, start_us: int, timestamp_us: IntArray) -> Motion:
        """Move along the (K,) poses of all steps; the first is at ``start_us``."""
        if len(map_SE3_flu) == 1:  # a scene of one image: it stands
            map_SE3_flu = SE3.stack([map_SE3_flu[0], map_SE3_flu[0]])
        at_s, steps_s = (timestamp_us - start_us) / 1e6, np.arange(len(map_SE3_flu)) * (step_us / 1e6)
        place = make_interp_spline(steps_s, map_SE3_flu.translation_m, k=min(3, len(steps_s) - 1))
        turns = RotationSpline(steps_s, Rotation.from_quat(map_SE3_flu.quat_wxyz, scalar_first=True))
        return cls(timestamp_us, place(at_s), place(at_s, 1), place(at_s, 2), turns(at_s), turns(at_s, 1))

    @property
    def specific_force_flu_mps2(self) -> FloatArray:
        """Reading of an accelerometer without errors, (N, 3): +9.81 upwards at rest, 0 in free fall."""
        up = np.array([0.0, 0.0, GRAVITY_MPS2])
        return np.asarray(self.turn.apply(self.acceleration_map_mps2 + up, inverse=True))


def reading_times_us(rate_hz: float, *, first_us: int, last_us: int) -> IntArray:
    """Return when a unit reads, from the first image to the last."""
    return np.arange(first_us, last_us + 1, round(1e6 / rate_hz), dtype=np.int64)


def imu(motion: Motion, unit: Imu, rng: np.random.Generator) -> Stream:
    """Return turning rate and specific force in flu, the truth, and the pose and velocity that belong to it."""
    found = _empty(motion, _IMU)
    found["gyroscope_true_radps"] = motion.turning_flu_radps
    found["accelerometer_true_mps2"] = motion.specific_force_flu_mps2
    found["gyroscope_radps"] = _with_errors(motion.turning_flu_radps, unit.gyroscope, unit.rate_hz, rng)
    found["accelerometer_mps2"] = _with_errors(motion.specific_force_flu_mps2, unit.accelerometer, unit.rate_hz, rng)
    found["position_map_m"], found["velocity_map_mps"] = motion.position_map_m, motion.velocity_map_mps
    found["quat_wxyz"] = motion.turn.as_quat(scalar_first=True)
    return found


def _with_errors(true: FloatArray, noise: InertialNoise, rate_hz: float, rng: np.random.Generator) -> FloatArray:
    """Add white noise, a bias that walks, scale errors and leaning axes. Source: Kalibr, "IMU noise model"."""
    leaning = rng.normal(0.0, noise.misalignment_rad, (3, 3)) * (1.0 - np.eye(3))
    mixed = np.eye(3) + leaning + np.diag(rng.normal(0.0, noise.scale, 3))
    walk = rng.normal(0.0, noise.random_walk / np.sqrt(rate_hz), true.shape)
    walk[0] = rng.normal(0.0, noise.bias, 3)
    white = rng.normal(0.0, noise.white * np.sqrt(rate_hz), true.shape)
    return np.asarray(true @ mixed.T + np.cumsum(walk, axis=0) + white)


def gnss(motion: Motion, unit: Gnss, rng: np.random.Generator) -> Stream:
    """Return latitude, longitude (degrees), height (m) and velocity in the map frame."""
    found = _empty(motion, _GNSS)
    errors_m = rng.normal(0.0, (unit.horizontal_m, unit.horizontal_m, unit.vertical_m), motion.position_map_m.shape)
    found["lat_lon_deg_height_m_true"] = geodetic_from_map(motion.position_map_m, unit.origin_deg_m)
    found["lat_lon_deg_height_m"] = geodetic_from_map(motion.position_map_m + errors_m, unit.origin_deg_m)
    found["velocity_map_true_mps"] = motion.velocity_map_mps
    found["velocity_map_mps"] = motion.velocity_map_mps + rng.normal(0.0, unit.velocity_mps, (len(found), 3))
    return found


def barometer(motion: Motion, unit: Barometer, rng: np.random.Generator) -> Stream:
    """Return pressures. Source: U.S. Standard Atmosphere 1976, the layer below 11 km."""
    found = _empty(motion, _BAROMETER)
    height_m = unit.origin_height_m + motion.position_map_m[:, 2]
    found["pressure_true_pa"] = unit.sea_level_pa * (1.0 - 0.0065 * height_m / 288.15) ** 5.255_88
    walk = rng.normal(0.0, unit.random_walk_pa / np.sqrt(unit.rate_hz), len(found))
    found["pressure_pa"] = found["pressure_true_pa"] + np.cumsum(walk) + rng.normal(0.0, unit.white_pa, len(found))
    return found


def magnetometer(motion: Motion, unit: Magnetometer, rng: np.random.Generator) -> Stream:
    """Return the field in flu, microtesla."""
    found = _empty(motion, _MAGNETOMETER)
    field_ut = np.tile(np.array(unit.field_map_ut), (len(found), 1))
    found["field_true_ut"] = motion.turn.apply(field_ut, inverse=True)
    constant = rng.normal(0.0, unit.hard_iron_ut, 3)
    found["field_ut"] = found["field_true_ut"] + constant + rng.normal(0.0, unit.white_ut, (len(found), 3))
    return found


def _empty(motion: Motion, kind: np.dtype[Any]) -> Stream:
    found = np.zeros(len(motion.timestamp_us), kind)
    found["timestamp_us"] = motion.timestamp_us
    return found
