"""The key ``flight_sensors`` of a dataset's YAML."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from uavsim.config.base import Metres3, Model

__all__ = ["BarometerBlock", "FlightSensors", "GnssBlock", "ImuBlock", "MagnetometerBlock", "NoiseBlock", "Unit"]

NotNegative = Annotated[float, Field(ge=0)]
_MOST_HZ = 1000


class NoiseBlock(Model):
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


class Unit(Model):
    """A sensor that measures at a rate."""

    rate_hz: Annotated[float, Field(gt=0, le=_MOST_HZ)]
    """Readings a second; the time between two is a whole number of microseconds."""

    @model_validator(mode="after")
    def _whole_microseconds(self) -> Self:
        period_us = 1e6 / self.rate_hz
        if abs(period_us - round(period_us)) > 1e-6:
            nearest = 1e6 / round(period_us)
            raise ValueError(f"rate_hz={self.rate_hz:g} is {period_us:.3f} us a reading; the nearest is {nearest:.9g}")
        return self


class ImuBlock(Unit):
    """An IMU in the drone's origin; the errors' defaults are an ADIS16448's as EuRoC's ``imu0/sensor.yaml`` has them."""

    rate_hz: Annotated[float, Field(gt=0, le=_MOST_HZ)] = 200.0
    gyroscope: NoiseBlock = NoiseBlock(white=1.6968e-4, random_walk=1.9393e-5)
    accelerometer: NoiseBlock = NoiseBlock(white=2.0e-3, random_walk=3.0e-3)


class GnssBlock(Unit):
    """A receiver in the drone's origin."""

    rate_hz: Annotated[float, Field(gt=0, le=_MOST_HZ)] = 5.0
    horizontal_m: NotNegative = 1.0
    """Standard deviation of the error to the east and to the north."""
    vertical_m: NotNegative = 1.5
    velocity_mps: NotNegative = 0.05
    origin_deg_m: tuple[
        Annotated[float, Field(ge=-89, le=89)], Annotated[float, Field(ge=-180, le=180)], Annotated[float, Field()]
    ] = (47.641468, -122.140165, 122.0)
    """Latitude, longitude (degrees) and height (m, WGS 84) of the map's origin; AirSim's home by default."""


class BarometerBlock(Unit):
    """A barometer in the standard atmosphere."""

    rate_hz: Annotated[float, Field(gt=0, le=_MOST_HZ)] = 50.0
    white_pa: NotNegative = 2.0
    random_walk_pa: NotNegative = 0.5
    """Of the pressure's slow error, a square root of a second."""
    sea_level_pa: Annotated[float, Field(gt=0)] = 101325.0
    origin_height_m: float = 122.0
    """Height of the map's origin above the sea."""


class MagnetometerBlock(Unit):
    """A magnetometer."""

    rate_hz: Annotated[float, Field(gt=0, le=_MOST_HZ)] = 50.0
    field_map_ut: Metres3 = (0.0, 20.0, -44.0)
    """The Earth's field in the map frame (x east, y north, z up), microtesla."""
    white_ut: NotNegative = 0.3
    hard_iron_ut: NotNegative = 0.0
    """Standard deviation of the constant error of each axis."""


class FlightSensors(Model):
    """IMU, GNSS, barometer and magnetometer of each drone."""

    imu: ImuBlock | None = None
    gnss: GnssBlock | None = None
    barometer: BarometerBlock | None = None
    magnetometer: MagnetometerBlock | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not any((self.imu, self.gnss, self.barometer, self.magnetometer)):
            raise ValueError("names no sensor: give one of imu, gnss, barometer, magnetometer ({} has its defaults)")
        return self
