"""Speed limits: bends and ways through junctions are signed for the speed at which cars keep the middle of their lane."""

from __future__ import annotations

import math
from typing import Final

from headless_simulator.towns.paths import Path

_ACROSS_MPS2: Final = 4.0  # the Traffic Manager's cars cut corners by 0.6 m and more at 6 m/s2
_STEP_KMH: Final = 10.0
_JUNCTION_STEP_KMH: Final = 5.0
_BRAKING_M: Final = 25.0  # the lower limit begins that far before the bend, from both sides


def limits_along(path: Path, limit_kmh: float) -> tuple[tuple[float, float], ...]:
    """(station m, limit km/h) records along a path, the first at 0."""
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
    """Limit in km/h of a way through a junction, on all of it: its narrowest bend's, rounded down."""
    narrowest = max((abs(bend) for _, bend in path.pieces), default=0.0)
    if narrowest <= 0.0:
        return limit_kmh
    fit = 3.6 * math.sqrt(_ACROSS_MPS2 / narrowest) // _JUNCTION_STEP_KMH * _JUNCTION_STEP_KMH
    return min(limit_kmh, max(fit, _JUNCTION_STEP_KMH))


def _limit_in_bend_kmh(radius_m: float) -> float:
    return max(_STEP_KMH, round(3.6 * math.sqrt(_ACROSS_MPS2 * radius_m) / _STEP_KMH) * _STEP_KMH)
