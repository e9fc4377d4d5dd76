"""Latitude and longitude of a position, as each version's client computes them."""

import math
from typing import Final

EARTH_RADIUS_M: Final = 6_378_137.0
SCALE: Final = 0.9996


def geolocation(x: float, y: float, *, latitude_deg: float, longitude_deg: float) -> tuple[float, float]:
    """Return latitude and longitude, degrees, of x, y in metres, as client 0.9.16: transverse Mercator on a sphere, y north.

    Source: Snyder, "Map Projections", equations 8-6 to 8-8; the scale is measured from the client's results.
    """
    east, north = x / (EARTH_RADIUS_M * SCALE), y / (EARTH_RADIUS_M * SCALE) + math.radians(latitude_deg)
    latitude = math.asin(math.sin(north) / math.cosh(east))
    longitude = math.atan2(math.sinh(east), math.cos(north))
    return math.degrees(latitude), longitude_deg + math.degrees(longitude)


def mercator(x: float, y: float, *, latitude_deg: float, longitude_deg: float) -> tuple[float, float]:
    """Return latitude and longitude, degrees, of x, y in metres, as clients before 0.9.16 and 0.10.0: Mercator, y south.

    Source: CARLA 0.9.15, ``GeoLocation.cpp``; issue 9389.
    """
    scale_m = EARTH_RADIUS_M * math.cos(math.radians(latitude_deg))
    north_m = scale_m * math.log(math.tan(math.radians(90 + latitude_deg) / 2)) - y
    latitude = math.degrees(2 * math.atan(math.exp(north_m / scale_m))) - 90
    return latitude, longitude_deg + math.degrees(x / scale_m)
