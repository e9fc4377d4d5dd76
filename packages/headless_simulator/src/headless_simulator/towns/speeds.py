"""Speed limits of bends and junctions, at which cars keep to the centre of their lane."""

import math
from typing import Final

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.paths import Path
from headless_simulator.towns.strips import Strip

SPEED_SIGNS: Final = (30, 40, 50, 60, 90, 100, 120, 130)  # km/h of CARLA's blueprints
_ACROSS_MPS2: Final = 4.0  # the Traffic Manager's cars cut corners by 0.6 m and more at 6 m/s2
_STEP_KMH: Final = 10.0
_JUNCTION_STEP_KMH: Final = 5.0
_LEAST_KMH: Final = 5.0
_WINDOW_M: Final = 3.0
_AROUND_M: Final = 6.0  # slightly more than half the distance between two limit samples
_STRAIGHT_1PM: Final = 1 / 200.0
_SAME_WAY: Final = 0.5  # cosine
_ASIDE_M: Final = 1.0  # less than to the next lane: a slip road's limit does not apply to the motorway
_ASIDE_SHARE: Final = 0.03
_SHORTEST_M: Final = 1.0
_LONGEST_TURN_M: Final = 40.0
_ACROSS_OF_FILES_MPS2: Final = 3.0  # their lanes are narrower and kink where records meet
_BEHIND_M: Final = 20.0  # a car that leaves a bend returns to the centre of its lane first
_SEEN_M: Final = 60.0
_BRAKED_BEFORE_M: Final = 15.0
_BRAKES_MPS2: Final = 1.5
_BRAKING_M: Final = 25.0  # the lower limit begins this far before the bend, from both sides


def limits_along(path: Path, limit_kmh: float) -> tuple[tuple[float, float], ...]:
    """Return (station m, limit km/h) records along a path, the first at 0."""
    slow = []
    at = 0.0
    for length, bend in path.pieces:
        if bend:
            limit = min(limit_kmh, _limit_in_bend_kmh(1.0 / abs(bend)))
            slow.append((max(at - _BRAKING_M, 0.0), at + length + _BRAKING_M, limit))
        at += length
    stations = sorted({0.0, *(station for start, end, _ in slow for station in (start, end) if station < at)})
    records: list[tuple[float, float]] = []
    for station in stations:
        limit = min([limit_kmh, *(low for start, end, low in slow if start <= station < end)])
        if not records or records[-1][1] != limit:
            records.append((station, limit))
    return tuple(records)


def limit_through(path: Path, limit_kmh: float) -> float:
    """Return the limit, km/h, of a whole path through a junction: its narrowest bend's, rounded down."""
    narrowest = max((abs(bend) for _, bend in path.pieces), default=0.0)
    if narrowest <= 0.0:
        return limit_kmh
    fit = 3.6 * math.sqrt(_ACROSS_MPS2 / narrowest) // _JUNCTION_STEP_KMH * _JUNCTION_STEP_KMH
    return min(limit_kmh, max(fit, _JUNCTION_STEP_KMH))


def _limit_in_bend_kmh(radius_m: float) -> float:
    return max(_STEP_KMH, round(3.6 * math.sqrt(_ACROSS_MPS2 * radius_m) / _STEP_KMH) * _STEP_KMH)


def bend_limits_kmh(strip: Strip, at_s: Float64) -> Float64:
    """Return (N,) limits of a lane's bends at (N,) stations, constant for a turn in a junction; infinite on straight parts."""
    line = strip.centre_m[:, :2]
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    if length[-1] < _SHORTEST_M:
        return np.full(len(at_s), np.inf)
    even = np.linspace(0.0, length[-1], max(3, int(length[-1] / _WINDOW_M) + 1))
    x, y = (np.interp(even, length, line[:, axis]) for axis in (0, 1))
    heading = np.unwrap(np.arctan2(np.diff(y), np.diff(x)))
    bend = np.abs(np.diff(heading)) / (even[1] - even[0])
    bend = np.concatenate([bend[:1], bend, bend[-1:]])
    if strip.junction and length[-1] < _LONGEST_TURN_M:
        bend[:] = bend.max()
    fit = 3.6 * np.sqrt(_ACROSS_OF_FILES_MPS2 / np.maximum(bend, _STRAIGHT_1PM))
    limit = np.where(bend > _STRAIGHT_1PM, np.maximum(fit, _LEAST_KMH), np.inf)
    # the lowest of the bend around each station: short bends are shorter than the station distance
    station_m = np.interp(at_s, strip.s, length)
    near = np.abs(station_m[:, None] - even[None, :]) <= _AROUND_M
    return np.asarray(np.where(near, limit, np.inf).min(axis=1), dtype=np.float64)


def before_bends(places: Float64, heading_rad: Float64) -> Float64:
    """Return (N,) limits, km/h, lowered to those of nearby samples of the same direction.

    Args:
        places: (N, 3) x, y, limit.
        heading_rad: (N,) direction of traffic.
    """
    from scipy.spatial import cKDTree  # 18 MB that a finished town no longer needs

    lowest = places[:, 2].copy()
    pairs = cKDTree(places[:, :2]).query_pairs(_SEEN_M, output_type="ndarray")
    way = np.stack([np.cos(heading_rad), np.sin(heading_rad)], axis=1)
    for one, other in (pairs.T, pairs.T[::-1]):
        away = places[other, :2] - places[one, :2]
        ahead_m = (away * way[one]).sum(axis=1)
        aside_m = np.abs(away[:, 0] * way[one, 1] - away[:, 1] * way[one, 0])
        along = (way[one] * way[other]).sum(axis=1) > _SAME_WAY
        along &= (aside_m < _ASIDE_M + _ASIDE_SHARE * np.abs(ahead_m)) & (ahead_m > -_BEHIND_M)
        slack_m = np.maximum(ahead_m - _BRAKED_BEFORE_M, 0.0)
        allowed = 3.6 * np.sqrt((places[other, 2] / 3.6) ** 2 + 2 * _BRAKES_MPS2 * slack_m)
        np.minimum.at(lowest, one[along], allowed[along])
    return np.asarray(lowest, dtype=np.float64)
