"""Lateral acceleration of cars from their positions tick by tick, as a client sees them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["lateral_mps2"]

_REACH = 2  # ticks to either side: a single tick's wobble of 1 mm is 0.4 m/s2 at 0.05 s


def lateral_mps2(
    places_m: npt.NDArray[np.floating], *, step_s: float, least_mps: float = 1.0
) -> npt.NDArray[np.float64]:
    """How strongly each car is pulled to its side: speed times the rate at which its course turns.

    Args:
        places_m: (ticks, cars, 2) positions in the plane; nan for a car that is gone.
        step_s: from one tick to the next.
        least_mps: slower cars have no course to speak of.

    Returns:
        (ticks, cars) magnitudes; nan at both ends of the drive, where a car is gone, and where it is slower.
    """
    lateral = np.full(places_m.shape[:2], np.nan)
    if len(places_m) <= 2 * _REACH:
        return lateral
    reach_s = _REACH * step_s
    before = (places_m[_REACH:-_REACH] - places_m[: -2 * _REACH]) / reach_s
    after = (places_m[2 * _REACH :] - places_m[_REACH:-_REACH]) / reach_s
    course = (before + after) / 2
    speed_mps = np.linalg.norm(course, axis=-1)
    across = np.abs(course[..., 0] * (after - before)[..., 1] - course[..., 1] * (after - before)[..., 0])
    with np.errstate(invalid="ignore", divide="ignore"):
        lateral[_REACH:-_REACH] = np.where(speed_mps >= least_mps, across / reach_s / speed_mps, np.nan)
    return lateral
