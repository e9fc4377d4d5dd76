"""Refusals of encounters, with the nearest possible request."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from uavsim.geometry.se3 import SE3
from uavsim.ingredients.intruders.paths import Impossible, OwnPath
from uavsim.ingredients.intruders.solve import MAGNITUDES, Clearance, EncounterSpec, solve

_FACTORS: Final = (1.02, 1.05, 1.1, 1.2, 1.35, 1.6, 2.0, 2.8, 4.0, 8.0)
_TURNS_DEG: Final = (1.0, 3.0, 6.0, 12.0, 25.0, 45.0)
_REFINEMENTS: Final = 5


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a request is impossible, and the nearest possible request; None if none is near."""

    reason: str
    nearest: EncounterSpec | None

    def text(self, spec: EncounterSpec) -> str:
        """The refusal in one line."""
        if self.nearest is None:
            return f"{self.reason}; no request near it is possible"
        changed = [
            f"{name}: {new:g}"
            for name in EncounterSpec.__dataclass_fields__
            if isinstance(new := getattr(self.nearest, name), float) and new != getattr(spec, name)
        ]
        return f"{self.reason}; possible: {', '.join(changed)}"


def refuse(
    spec: EncounterSpec, own_path: OwnPath, map_SE3_camera: SE3, *, clearance: Clearance | None = None
) -> Refusal | None:
    """Return the reason why a request is impossible, with the nearest possible one; None if it is possible."""
    try:
        solve(spec, own_path, map_SE3_camera, clearance=clearance)
    except Impossible as impossible:
        return Refusal(impossible.reason, nearest_possible(spec, own_path, map_SE3_camera, clearance=clearance))
    return None


def nearest_possible(
    spec: EncounterSpec, own_path: OwnPath, map_SE3_camera: SE3, *, clearance: Clearance | None = None
) -> EncounterSpec | None:
    """Return the possible request nearest in one number, or in range and time together; None if none is near."""

    def possible(other: EncounterSpec) -> bool:
        try:
            solve(other, own_path, map_SE3_camera, clearance=clearance)
        except Impossible:
            return False
        return True

    for _, change in sorted(_changes(spec), key=lambda priced: priced[0]):
        if possible(found := _changed(spec, change)):
            return _refined(spec, change, possible) or found
    return None


def _refined(
    spec: EncounterSpec, change: dict[str, float], possible: Callable[[EncounterSpec], bool]
) -> EncounterSpec | None:
    """Halve the change while the request stays possible, then shorten its numbers."""
    low, high = 0.0, 1.0
    for _ in range(_REFINEMENTS):
        middle = (low + high) / 2.0
        if possible(_changed(spec, _share(spec, change, middle))):
            high = middle
        else:
            low = middle
    exact = _share(spec, change, high)
    for digits in (2, 3, 4):
        short = _changed(spec, {name: float(f"{value:.{digits}g}") for name, value in exact.items()})
        if short != spec and possible(short):
            return short
    return None


def _share(spec: EncounterSpec, change: dict[str, float], share: float) -> dict[str, float]:
    return {name: _number(spec, name) + share * (value - _number(spec, name)) for name, value in change.items()}


def _number(spec: EncounterSpec, name: str) -> float:
    value = getattr(spec, name)
    return 0.0 if value is None else float(value)


def _changed(spec: EncounterSpec, change: dict[str, float]) -> EncounterSpec:
    return replace(spec, **change)  # type: ignore[arg-type]


def _changes(spec: EncounterSpec) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield (cost, change): a factor costs its logarithm, 30 degrees as much as a factor of e."""
    names = [name for name in MAGNITUDES if getattr(spec, name) is not None]
    if len(names) == len(MAGNITUDES):
        names = ["closing_mps", "range_m", "time_to_cpa_s", "cpa_m"]
    names += [name for name in ("turn_dps", "climb_mps") if getattr(spec, name)]
    for factor in _FACTORS:
        for name in names:
            value = _number(spec, name)
            for other in (value * factor, value / factor):
                yield math.log(factor), {name: other}
        if {"range_m", "time_to_cpa_s"} <= set(names):
            for power in (1.0, -1.0):
                scale = factor**power
                both = {name: _number(spec, name) * scale for name in ("range_m", "time_to_cpa_s")}
                yield 1.5 * math.log(factor), both
    for turn in _TURNS_DEG:
        for name in ("azimuth_deg", "elevation_deg"):
            for sign in (1.0, -1.0):
                yield turn / 30.0, {name: _number(spec, name) + sign * turn}
