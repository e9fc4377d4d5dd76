"""Lane change permissions: none in bends and on the last metres before a junction."""

from typing import Final

from headless_simulator.towns.paths import Path
from headless_simulator.towns.speeds import limits_along

_APPROACH_M: Final = 30.0  # a car that stops at a light between two lanes blocks both


def changes_along(path: Path, limit_kmh: float, *, forward: bool) -> tuple[tuple[float, bool], ...]:
    """Return (station m, lane change allowed) records along a path, the first at 0.

    Args:
        path: path of a street between two junctions.
        limit_kmh: the street's speed limit; bends have a lower one.
        forward: whether the lanes run with the path.
    """
    length = path.length_m
    low, high = (max(length - _APPROACH_M, 0.0), length) if forward else (0.0, min(_APPROACH_M, length))
    limits = limits_along(path, limit_kmh)
    stations = sorted({0.0, low, high, *(station for station, _ in limits)} - {length})
    records: list[tuple[float, bool]] = []
    for station in stations:
        limit = [value for start, value in limits if start <= station][-1]
        allowed = limit >= limit_kmh and not low <= station < high
        if not records or records[-1][1] != allowed:
            records.append((station, allowed))
    return tuple(records)
