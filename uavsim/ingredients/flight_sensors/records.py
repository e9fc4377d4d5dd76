"""Plans of the sensors of a flight controller; units stand in the names."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Barometer", "FlightSensorsPlan", "Gnss", "Imu", "InertialNoise", "Magnetometer"]


@dataclass(frozen=True, slots=True)
class InertialNoise:
    """Errors of a triad of gyroscopes (unit rad/s) or accelerometers (m/s^2).

    Attributes:
        white: density of the white noise, unit/sqrt(Hz).
        random_walk: density of the bias' random walk, unit/s/sqrt(Hz).
        bias: standard deviation of the bias at the scene's start, unit.
        scale: standard deviation of each axis' scale error, parts of one.
        misalignment_rad: standard deviation of how far an axis leans to each other one.
    """

    white: float = 0.0
    random_walk: float = 0.0
    bias: float = 0.0
    scale: float = 0.0
    misalignment_rad: float = 0.0


@dataclass(frozen=True, slots=True)
class Imu:
    """Turning rate and specific force, in the drone's flu frame."""

    rate_hz: float
    gyroscope: InertialNoise
    accelerometer: InertialNoise


@dataclass(frozen=True, slots=True)
class Gnss:
    """Place and velocity; errors are white and stand still on average.

    Attributes:
        origin_deg_m: latitude, longitude, height above the ellipsoid (WGS 84) of the map frame's origin; its x is east.
    """

    rate_hz: float
    horizontal_m: float
    vertical_m: float
    velocity_mps: float
    origin_deg_m: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Barometer:
    """Pressure of the standard atmosphere at the drone's height over the map frame's origin."""

    rate_hz: float
    white_pa: float
    random_walk_pa: float  # per sqrt(s)
    sea_level_pa: float
    origin_height_m: float


@dataclass(frozen=True, slots=True)
class Magnetometer:
    """The Earth's field in the drone's flu frame; the field is the same all over a town."""

    rate_hz: float
    field_map_ut: tuple[float, float, float]
    white_ut: float
    hard_iron_ut: float


@dataclass(frozen=True, slots=True)
class FlightSensorsPlan:
    """Of every drone; errors are drawn from ``seed``, each drone's its own."""

    seed: int
    imu: Imu | None = None
    gnss: Gnss | None = None
    barometer: Barometer | None = None
    magnetometer: Magnetometer | None = None
