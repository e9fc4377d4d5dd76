"""Geometry of two moving objects: range, closing speed, bearing and the closest point of approach (CPA).

Paths are sampled at increasing times; between two samples both move evenly.
"""

from dataclasses import dataclass

import numpy as np

from uavsim.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Approach:
    """The closest point of approach: distance and time."""

    distance_m: float
    time_s: float


def direction_flu(*, azimuth_deg: float, elevation_deg: float) -> FloatArray:
    """Return the (3,) flu unit vector of a bearing.

    Args:
        azimuth_deg: angle from straight ahead to the right.
        elevation_deg: angle upwards.
    """
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    level = np.cos(elevation)
    return np.array([level * np.cos(azimuth), -level * np.sin(azimuth), np.sin(elevation)])


def bearing_deg(points_flu_m: FloatArray) -> FloatArray:
    """Return (..., 2) azimuth to the right and elevation upwards, degrees, of (..., 3) flu points."""
    x, y, z = np.moveaxis(np.asarray(points_flu_m, dtype=np.float64), -1, 0)
    return np.asarray(np.degrees(np.stack([np.arctan2(-y, x), np.arctan2(z, np.hypot(x, y))], axis=-1)))


def range_m(own_m: FloatArray, other_m: FloatArray) -> FloatArray:
    """Return (...) distances between (..., 3) points of one frame, metres."""
    return np.asarray(np.linalg.norm(np.asarray(other_m) - np.asarray(own_m), axis=-1))


def closing_mps(time_s: FloatArray, own_m: FloatArray, other_m: FloatArray) -> FloatArray:
    """Return (K,) closing speeds, by differences of second order.

    Args:
        time_s: (K,) evenly spaced times, K >= 3.
        own_m: (K, 3) positions, metres.
        other_m: (K, 3) positions in the same frame, metres.
    """
    return np.asarray(-np.gradient(range_m(own_m, other_m), time_s, edge_order=2))


def closest_approach(time_s: FloatArray, own_m: FloatArray, other_m: FloatArray) -> Approach:
    """Return the closest point of approach of two paths, exact between samples.

    Args:
        time_s: (K,) increasing times, K >= 1.
        own_m: (K, 3) positions, metres.
        other_m: (K, 3) positions in the same frame, metres.
    """
    apart_m = np.asarray(other_m, dtype=np.float64) - own_m
    if len(apart_m) == 1:
        return Approach(float(np.linalg.norm(apart_m[0])), float(time_s[0]))
    start, step = apart_m[:-1], np.diff(apart_m, axis=0)
    square = np.einsum("ij,ij->i", step, step)
    along = -np.einsum("ij,ij->i", start, step)
    share = np.clip(np.divide(along, square, out=np.zeros_like(along), where=square > 0.0), 0.0, 1.0)
    distance_m = np.linalg.norm(start + share[:, None] * step, axis=1)
    first = int(distance_m.argmin())
    span_s = float(time_s[first + 1] - time_s[first])
    return Approach(float(distance_m[first]), float(time_s[first]) + float(share[first]) * span_s)
