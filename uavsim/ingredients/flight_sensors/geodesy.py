"""Latitude, longitude and height of places in the map frame, whose plane touches the WGS 84 ellipsoid at the origin."""

from typing import Final

import numpy as np

from uavsim.typing import FloatArray

_A_M: Final = 6_378_137.0
_E2: Final = 6.694_379_990_141_317e-3
_B_M: Final = _A_M * np.sqrt(1.0 - _E2)


def geodetic_from_map(position_map_m: FloatArray, origin_deg_m: tuple[float, float, float]) -> FloatArray:
    """Return (N, 3) latitude, longitude (degrees) and height (m) of (N, 3) map points; the map's x is east, its y north.

    Bowring's formula, once: for heights below 10 km its error is under a micrometre.
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
