"""The geographic origin of a map, and WGS 84 coordinates of map points.

All data of a town share one origin: GNSS and barometer streams of drones and cars, and the vector map. The geoReference of the
town's OpenDRIVE file maps it to x = y = 0. The map frame is the tangent plane at that point: x east, y north, z up from
``ORIGIN_HEIGHT_M``.
"""

import re
from typing import Final, TypeAlias

import numpy as np

from uavsim.typing import FloatArray

GeographicOrigin: TypeAlias = tuple[float, float, float]
"""Latitude and longitude (degrees, WGS 84), and height (m) of the map frame's origin."""
ORIGIN_HEIGHT_M: Final = 0.0
"""A geoReference has no height; CARLA uses 0."""
DEFAULT_ORIGIN_DEG_M: Final[GeographicOrigin] = (42.0, 2.0, ORIGIN_HEIGHT_M)
"""Origin of maps without geoReference, ``+lat_0`` or ``+lon_0``: the default of CARLA's client."""
_HEADER_CHARS: Final = 100_000
_LONGEST_REFERENCE: Final = 2000
_A_M: Final = 6_378_137.0
_E2: Final = 6.694_379_990_141_317e-3
_B_M: Final = _A_M * np.sqrt(1.0 - _E2)


def reference_in(opendrive: str) -> str:
    """Return the geoReference of an OpenDRIVE text; "" if its header has none."""
    found = re.search(r"<geoReference[^>]*>(.{0,2000}?)</geoReference>", opendrive[:_HEADER_CHARS], re.DOTALL)
    return found[1] if found else ""


def origin_of_reference(text: str) -> GeographicOrigin:
    """Parse the origin of a PROJ string; ``DEFAULT_ORIGIN_DEG_M`` unless it gives latitude and longitude."""
    found = dict(re.findall(r"\+(lat_0|lon_0)=([-+.\deE]+)", text[:_LONGEST_REFERENCE]))
    try:
        latitude, longitude = float(found["lat_0"]), float(found["lon_0"])
    except (KeyError, ValueError):
        return DEFAULT_ORIGIN_DEG_M
    is_on_earth = abs(latitude) <= 90.0 and abs(longitude) <= 180.0
    return (latitude, longitude, ORIGIN_HEIGHT_M) if is_on_earth else DEFAULT_ORIGIN_DEG_M


def geodetic_from_map(position_map_m: FloatArray, origin_deg_m: GeographicOrigin) -> FloatArray:
    """Convert map points to geodetic coordinates (WGS 84).

    One iteration of Bowring's formula: below 10 km of height its error is under a micrometre.

    Args:
        position_map_m: (N, 3) points in the map frame (x east, y north), metres.
        origin_deg_m: origin of the map.

    Returns:
        (N, 3) latitude and longitude, degrees, and height, metres.

    Source: NIMA TR8350.2; B. R. Bowring, Survey Review 23 (1976).
    """
    lat, lon = np.radians(origin_deg_m[:2])
    east = np.array([-np.sin(lon), np.cos(lon), 0.0])
    up = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    north = np.cross(up, east)
    radius = _A_M / np.sqrt(1.0 - _E2 * np.sin(lat) ** 2)
    height = origin_deg_m[2]
    origin = (radius + height) * up - np.array([0.0, 0.0, _E2 * radius * np.sin(lat)])
    x, y, z = (origin + position_map_m @ np.stack([east, north, up])).T
    across = np.hypot(x, y)
    reduced = np.arctan2(_A_M * z, _B_M * across)
    bend = _E2 / (1.0 - _E2) * _B_M
    phi = np.arctan2(z + bend * np.sin(reduced) ** 3, across - _E2 * _A_M * np.cos(reduced) ** 3)
    above = across * np.cos(phi) + z * np.sin(phi) - _A_M * np.sqrt(1.0 - _E2 * np.sin(phi) ** 2)
    return np.stack([np.degrees(phi), np.degrees(np.arctan2(y, x)), above], axis=1)
