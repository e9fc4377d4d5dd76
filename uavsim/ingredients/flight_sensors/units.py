"""The sensors of a flight controller: keys in the YAML, error models, and readings along a motion."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import Field

from uavsim.config.base import Metres3, Model
from uavsim.geometry.geographic import geodetic_from_map
from uavsim.typing import FloatArray

if TYPE_CHECKING:
    from uavsim.ingredients.flight_sensors.carrier_motion import CarrierMotion

NotNegative = Annotated[float, Field(ge=0)]
Stream: TypeAlias = npt.NDArray[Any]
"""(N,) readings in order of time; field names carry units, and fields with ``true`` in their name have no errors."""
VECTOR = ("<f8", (3,))
_MOST_HZ = 1000


class Unit(Model):
    """A sensor that measures at a rate. A subclass defines one kind: its keys and its readings."""

    usual_hz: ClassVar[float]

    rate_hz: Annotated[float, Field(gt=0, le=_MOST_HZ)] | None = None
    """Readings per second; their period is a whole number of microseconds. Where motion is known only at the simulator's
    steps, at most one reading per step."""

    @property
    def hz(self) -> float:
        """Return the requested rate or the default."""
        return self.usual_hz if self.rate_hz is None else self.rate_hz

    @abstractmethod
    def read(self, motion: CarrierMotion, rng: np.random.Generator) -> Stream:
        """Return (N,) measurements and true values at the N times of a motion."""


def empty(motion: CarrierMotion, *fields: tuple[Any, ...]) -> Stream:
    """Return (N,) zero rows with the times of a motion."""
    found = np.zeros(len(motion.timestamp_us), np.dtype([("timestamp_us", "<i8"), *fields]))
    found["timestamp_us"] = motion.timestamp_us
    return found


class InertialNoise(Model):
    """Errors of three gyroscopes (rad/s) or accelerometers (m/s^2), as Kalibr and IEEE 952 name them."""

    white: NotNegative = 0.0
    """Density of the white noise: rad/s/sqrt(Hz), m/s^2/sqrt(Hz)."""
    random_walk: NotNegative = 0.0
    """Density of the bias' random walk: rad/s^2/sqrt(Hz), m/s^3/sqrt(Hz)."""
    bias: NotNegative = 0.0
    """Standard deviation of the bias at the start: rad/s, m/s^2."""
    scale: Annotated[float, Field(ge=0, le=0.2)] = 0.0
    """Standard deviation of each axis' scale error: 0.001 is a thousandth."""
    misalignment_rad: Annotated[float, Field(ge=0, le=0.2)] = 0.0
    """Standard deviation of each axis' misalignment."""

    def added(self, true: FloatArray, rate_hz: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return (N, 3) values with errors, and the bias in them. Source: Kalibr, "IMU noise model"."""
        leaning = rng.normal(0.0, self.misalignment_rad, (3, 3)) * (1.0 - np.eye(3))
        mixed = np.eye(3) + leaning + np.diag(rng.normal(0.0, self.scale, 3))
        walk = rng.normal(0.0, self.random_walk / np.sqrt(rate_hz), true.shape)
        walk[0] = rng.normal(0.0, self.bias, 3)
        white = rng.normal(0.0, self.white * np.sqrt(rate_hz), true.shape)
        bias = np.cumsum(walk, axis=0)
        return np.asarray(true @ mixed.T + bias + white), bias


class Imu(Unit):
    """An IMU in the carrier's origin; the errors' defaults are an ADIS16448's as EuRoC's ``imu0/sensor.yaml`` has them."""

    usual_hz: ClassVar = 200.0

    gyroscope: InertialNoise = InertialNoise(white=1.6968e-4, random_walk=1.9393e-5)
    accelerometer: InertialNoise = InertialNoise(white=2.0e-3, random_walk=3.0e-3)

    def read(self, motion: CarrierMotion, rng: np.random.Generator) -> Stream:
        """Return turning rate and specific force in flu, biases, the true values, pose and velocity."""
        values = ("gyroscope_radps", "accelerometer_mps2", "gyroscope_bias_radps", "accelerometer_bias_mps2")
        truth = ("gyroscope_true_radps", "accelerometer_true_mps2", "position_map_m", "velocity_map_mps")
        found = empty(motion, *((name, *VECTOR) for name in values + truth), ("quat_wxyz", "<f8", (4,)))
        for name, unit, true, noise in (
            ("gyroscope", "radps", motion.turning_flu_radps, self.gyroscope),
            ("accelerometer", "mps2", motion.specific_force_flu_mps2, self.accelerometer),
        ):
            found[f"{name}_true_{unit}"] = true
            found[f"{name}_{unit}"], found[f"{name}_bias_{unit}"] = noise.added(true, self.hz, rng)
        found["position_map_m"], found["velocity_map_mps"] = motion.position_map_m, motion.velocity_map_mps
        found["quat_wxyz"] = motion.turn.as_quat(scalar_first=True)
        return found


class Gnss(Unit):
    """A receiver in the carrier's origin; its errors are white."""

    usual_hz: ClassVar = 5.0

    horizontal_m: NotNegative = 1.0
    """Standard deviation of the error to the east and to the north."""
    vertical_m: NotNegative = 1.5
    velocity_mps: NotNegative = 0.05

    def read(self, motion: CarrierMotion, rng: np.random.Generator) -> Stream:
        """Return latitude, longitude (degrees), height (m) and velocity in the map frame."""
        names = ("lat_lon_deg_height_m", "velocity_map_mps", "lat_lon_deg_height_m_true", "velocity_map_true_mps")
        found = empty(motion, *((name, *VECTOR) for name in names))
        place_m, velocity_mps = motion.position_map_m, motion.velocity_map_mps
        off_m = rng.normal(0.0, (self.horizontal_m, self.horizontal_m, self.vertical_m), place_m.shape)
        found["lat_lon_deg_height_m_true"] = geodetic_from_map(place_m, motion.origin_deg_m)
        found["lat_lon_deg_height_m"] = geodetic_from_map(place_m + off_m, motion.origin_deg_m)
        found["velocity_map_true_mps"] = velocity_mps
        found["velocity_map_mps"] = velocity_mps + rng.normal(0.0, self.velocity_mps, velocity_mps.shape)
        return found


class Barometer(Unit):
    """A barometer in the standard atmosphere."""

    usual_hz: ClassVar = 50.0

    white_pa: NotNegative = 2.0
    random_walk_pa: NotNegative = 0.5
    """Random walk of the pressure's slow error, per square root of a second."""
    sea_level_pa: Annotated[float, Field(gt=0)] = 101325.0

    def read(self, motion: CarrierMotion, rng: np.random.Generator) -> Stream:
        """Return pressures, pascals. Source: U.S. Standard Atmosphere 1976, the layer below 11 km."""
        found = empty(motion, ("pressure_pa", "<f8"), ("pressure_true_pa", "<f8"))
        height_m = motion.origin_deg_m[2] + motion.position_map_m[:, 2]
        found["pressure_true_pa"] = self.sea_level_pa * (1.0 - 0.0065 * height_m / 288.15) ** 5.255_88
        walk = rng.normal(0.0, self.random_walk_pa / np.sqrt(self.hz), len(found))
        found["pressure_pa"] = found["pressure_true_pa"] + np.cumsum(walk) + rng.normal(0.0, self.white_pa, len(found))
        return found


class Magnetometer(Unit):
    """A magnetometer; the Earth's field is constant over a town."""

    usual_hz: ClassVar = 50.0

    field_map_ut: Metres3 = (0.0, 20.0, -44.0)
    """The Earth's field in the map frame (x east, y north, z up), microtesla."""
    white_ut: NotNegative = 0.3
    hard_iron_ut: NotNegative = 0.0
    """Standard deviation of the constant error of each axis."""

    def read(self, motion: CarrierMotion, rng: np.random.Generator) -> Stream:
        """Return the field in flu, microtesla."""
        found = empty(motion, ("field_ut", *VECTOR), ("field_true_ut", *VECTOR))
        field_ut = np.tile(np.array(self.field_map_ut), (len(found), 1))
        found["field_true_ut"] = motion.turn.apply(field_ut, inverse=True)
        constant = rng.normal(0.0, self.hard_iron_ut, 3)
        found["field_ut"] = found["field_true_ut"] + constant + rng.normal(0.0, self.white_ut, (len(found), 3))
        return found
