"""Geographic coordinates, air pressure and magnetic field of the scene."""

import math
from typing import Final

from headless_simulator.airsim.ned import Vec3

Geo = tuple[float, float, float]  # latitude, longitude (degrees), altitude (metres)
EARTH_RADIUS_M: Final = 6_378_137.0
SEA_PRESSURE_PA: Final = 101_325.0
SEA_TEMPERATURE_K: Final = 288.15
LAPSE_KPM: Final = 0.0065
_PRESSURE_POWER: Final = 5.25588
_GAS: Final = 287.053
MAGNETIC_GAUSS: Final = (0.20, 0.05, 0.49)  # north, east, down near AirSim's default origin; a constant here


def geo_from_ned(ned_m: Vec3, origin: Geo) -> Geo:
    """Convert a NED point, metres, to latitude, longitude (degrees), altitude (metres) on a local tangent plane."""
    north, east, down = ned_m
    latitude = origin[0] + math.degrees(north / EARTH_RADIUS_M)
    longitude = origin[1] + math.degrees(east / (EARTH_RADIUS_M * math.cos(math.radians(origin[0]))))
    return latitude, longitude, origin[2] - down


def ned_from_geo(position: Geo, origin: Geo) -> Vec3:
    """Convert latitude, longitude, altitude to a NED point, metres; inverse of ``geo_from_ned``."""
    north = math.radians(position[0] - origin[0]) * EARTH_RADIUS_M
    east = math.radians(position[1] - origin[1]) * EARTH_RADIUS_M * math.cos(math.radians(origin[0]))
    return north, east, origin[2] - position[2]


def geo_map(position: Geo) -> dict[str, float]:
    """Encode a geographic position as the wire's GeoPoint."""
    return {"latitude": position[0], "longitude": position[1], "altitude": position[2]}


def temperature_k(altitude_m: float) -> float:
    """Return the standard atmosphere's temperature, K, valid below 11 km."""
    return SEA_TEMPERATURE_K - LAPSE_KPM * min(max(altitude_m, -1000.0), 11_000.0)


def pressure_pa(altitude_m: float) -> float:
    """Return the standard atmosphere's pressure, Pa."""
    return float(SEA_PRESSURE_PA * (temperature_k(altitude_m) / SEA_TEMPERATURE_K) ** _PRESSURE_POWER)


def altitude_m(pressure: float) -> float:
    """Return the standard atmosphere's altitude, metres, at a pressure, Pa."""
    ratio = max(pressure, 1.0) / SEA_PRESSURE_PA
    return float((1.0 - ratio ** (1.0 / _PRESSURE_POWER)) * SEA_TEMPERATURE_K / LAPSE_KPM)


def air_density(height_m: float) -> float:
    """Return the standard atmosphere's density, kg/m3."""
    return pressure_pa(height_m) / (_GAS * temperature_k(height_m))
