"""Places where drivers may change lanes: not in bends, and not on the last metres before a junction."""

from typing import Final

from headless_simulator.towns.paths import Path
from headless_simulator.towns.speeds import limits_along

_APPROACH_M: Final = 30.0  # a car that stops at a light between two lanes is in the way of both


def changes_along(path: Path, limit_kmh: float, *, forward: bool) -> tuple[tuple[float, bool], ...]:
    """(station m, whether lanes may be changed from there on) records along a path, the first at 0.

    Args:
        path: of a street between two junctions.
        limit_kmh: its speed limit; a bend is where that is lower.
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
