"""Readings of a vehicle's sensors, with AirSim's noise seeded by simulated time: equal times give equal readings."""

import math
from typing import Any, Final

import numpy as np

from headless_simulator.airsim import geo
from headless_simulator.airsim.drone import Drone
from headless_simulator.airsim.fleet import START_NS
from headless_simulator.airsim.ned import quat_conjugate, quat_map, rotate, vector_map
from headless_simulator.airsim.quad import GRAVITY
from headless_simulator.airsim.settings import SENSOR_TYPES, SensorSetting
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64

SAMPLE_S: Final = 0.003
GYRO_WALK: Final = 0.30 / math.sqrt(3600.0) * math.pi / 180.0  # rad/sqrt(s), AirSim ImuSimpleParams
ACCEL_WALK: Final = 0.24 * GRAVITY / 1000.0  # m/s2/sqrt(Hz)
BAROMETER_PA: Final = 2.7
MAGNETOMETER_GAUSS: Final = 0.005
GPS_EPH_M: Final = 0.1


class NoSuchSensor(CallRefused):
    """A sensor name that the vehicle does not have."""


def find_sensor(drone: Drone, name: str, kind: str) -> SensorSetting:
    """Find a sensor by name; the empty name means the first of its kind.

    Raises:
        NoSuchSensor: the vehicle has no sensor of that name and kind.
    """
    number = SENSOR_TYPES[kind]
    of_kind = {n: s for n, s in drone.setting.sensors.items() if s.kind == number}
    if not name and of_kind:
        return next(iter(of_kind.values()))
    if name not in of_kind:
        known = ", ".join(of_kind) or "none; add one to settings.json"
        raise NoSuchSensor(f"No {kind} with name {name or '(any)'} exist on vehicle {drone.name}; available: {known}")
    return of_kind[name]


def _noise(drone: Drone, kind: str, count: int) -> Float64:
    name = int.from_bytes(drone.name.encode()[:8].ljust(8, b"\0"), "little")
    seed = np.random.SeedSequence([SENSOR_TYPES[kind], name, drone.now_ns - START_NS])
    return np.random.default_rng(seed).standard_normal(count)


def imu(drone: Drone) -> dict[str, Any]:
    """Read attitude, angular velocity, rad/s, and specific force, m/s2, body FRD."""
    noise = _noise(drone, "imu", 6) / math.sqrt(SAMPLE_S)
    x, y, z = drone.accel_mps2
    felt = rotate(quat_conjugate(drone.quat), (x, y, z - GRAVITY))
    return {
        "time_stamp": drone.now_ns,
        "orientation": quat_map(drone.quat),
        "angular_velocity": vector_map(np.array(drone.rate_radps) + noise[:3] * GYRO_WALK),
        "linear_acceleration": vector_map(np.array(felt) + noise[3:] * ACCEL_WALK),
    }


def barometer(drone: Drone, position: geo.Geo) -> dict[str, Any]:
    """Read air pressure and the pressure altitude."""
    pressure = geo.pressure_pa(position[2]) + float(_noise(drone, "barometer", 1)[0]) * BAROMETER_PA
    return {"time_stamp": drone.now_ns, "altitude": geo.altitude_m(pressure), "pressure": pressure, "qnh": 1013.25}


def magnetometer(drone: Drone) -> dict[str, Any]:
    """Read the earth's field in body axes, gauss."""
    field = np.array(rotate(quat_conjugate(drone.quat), geo.MAGNETIC_GAUSS))
    field += _noise(drone, "magnetometer", 3) * MAGNETOMETER_GAUSS
    return {"time_stamp": drone.now_ns, "magnetic_field_body": vector_map(field), "magnetic_field_covariance": []}


def gps(drone: Drone, position: geo.Geo) -> dict[str, Any]:
    """Read geographic position and NED velocity, m/s; AirSim's GPS adds no position noise."""
    report = {
        "geo_point": geo.geo_map(position),
        "eph": GPS_EPH_M,
        "epv": GPS_EPH_M,
        "velocity": vector_map(drone.velocity_mps),
        "fix_type": 3,
        "time_utc": drone.now_ns // 1000,
    }
    return {"time_stamp": drone.now_ns, "gnss": report, "is_valid": True}
