"""An inertial measurement unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from uavsim.config.base import Model
from uavsim.ingredients.flight_sensors.config.unit import VECTOR, NotNegative, Stream, Unit, empty
from uavsim.typing import FloatArray

if TYPE_CHECKING:
    from uavsim.ingredients.flight_sensors.motion import Motion


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
    """Standard deviation of how far each axis leans."""

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

    def read(self, motion: Motion, rng: np.random.Generator) -> Stream:
        """Return turning rate and specific force in flu, biases, the truth, and the pose and velocity that belong to it."""
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
