"""AOT's encounters: stretches in which a planned intruder is within 700 m, and whether they are detected in time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "HORIZONS",
    "Encounters",
    "detected_in_time",
    "find_encounters",
    "horizon_of",
    "tracked_windows",
]

HORIZONS: Final = ("below", "mixed", "above")
_LONGEST_STEP_FRAMES: Final = 3
_SHORTEST_ROWS: Final = 30
_FARTHEST_CLOSEST_M: Final = 1.1 * 300
_WINDOW_ROWS: Final = 30
_SHARE: Final = 0.5
_BEFORE_M: Final = 300.0
_FAST_FRAMES: Final = 30


@dataclass(frozen=True, slots=True, eq=False)
class Encounters:
    """Rows of ground truth that belong to encounters.

    Args:
        row: (R,) index of the ground-truth row, in the order of the encounter.
        encounter: (R,) number of its encounter, ascending.
        valid: (E,) encounters that are evaluated: 30 rows and more, and closer than 330 m at some time.
    """

    row: IntArray
    encounter: IntArray
    valid: BoolArray


def find_encounters(
    flight: IntArray,
    object_: IntArray,
    time: IntArray,
    frame: IntArray,
    range_m: FloatArray,
    *,
    max_range_m: float = 700.0,
    mode: str = "official",
) -> Encounters:
    """Find encounters in ground truth.

    Args:
        flight: (N,) flight of each row, numbered in the order of the flights' names.
        object_: (N,) object, numbered in the order of the names.
        time: (N,) nanoseconds.
        frame: (N,).
        range_m: (N,) NaN for rows without a planned intruder.
        max_range_m: farther rows belong to none.
        mode: ``official`` joins two intruders of a flight into one encounter when the second comes up to three frames
            after the first has gone; ``corrected`` does not.

    Source: aicrowd/airborne-detection-starter-kit, ``core/metrics/airborne_metrics/calculate_encounters.py``.
    """
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(range_m <= max_range_m)
    rows = rows[np.lexsort((frame[rows], time[rows], object_[rows], flight[rows]))]
    if not len(rows):
        none = np.zeros(0, np.int64)
        return Encounters(none, none, np.zeros(0, bool))
    step = np.diff(frame[rows])
    switch = (step < 0) | (step > _LONGEST_STEP_FRAMES) | (np.diff(flight[rows]) != 0)
    if mode != "official":
        switch |= np.diff(object_[rows]) != 0
    encounter = np.r_[0, np.cumsum(switch)]
    closest = np.full(int(encounter[-1]) + 1, np.inf)
    np.minimum.at(closest, encounter, range_m[rows])
    valid = (np.bincount(encounter) >= _SHORTEST_ROWS) & (closest <= _FARTHEST_CLOSEST_M)
    return Encounters(rows, encounter, valid)


def tracked_windows(matched_tracks: list[list[float]]) -> BoolArray:
    """Return (rows,) at which of them one track has matched at least half of the last 30 rows.

    Args:
        matched_tracks: for each row of an encounter, by frame, the tracks of the detections that match it; NaN for one without
            a track, which is never the same as another.

    Source: ``calculate_airborne_metrics.py``, ``augment_with_moving_most_common_track_id_count_per_encounter``.
    """
    counts: Counter[float] = Counter()
    tracked = np.zeros(len(matched_tracks), bool)
    for row, tracks in enumerate(matched_tracks):
        counts.update(tracks)
        if row >= _WINDOW_ROWS:
            counts.subtract(matched_tracks[row - _WINDOW_ROWS])
        full = row >= _WINDOW_ROWS - 1
        tracked[row] = full and max(counts.values(), default=0) / _WINDOW_ROWS >= _SHARE
    return tracked


def detected_in_time(tracked: BoolArray, range_m: FloatArray, frame: IntArray, image: IntArray) -> bool:
    """Return whether the first tracked window ends at 300 m or more, or within 30 frames of the encounter's first frame.

    Args:
        tracked: (R,) see ``tracked_windows``.
        range_m: (R,) of the encounter's rows.
        frame: (R,).
        image: (R,) numbers of images in the order of their names: the starter kit takes the first by name.
    """
    rows = np.flatnonzero(tracked)
    if not len(rows):
        return False
    first = rows[np.argmin(image[rows])]
    return bool(range_m[first] >= _BEFORE_M or frame[first] - frame.min() < _FAST_FRAMES)


def horizon_of(is_above_horizon: FloatArray) -> str | None:
    """Return an encounter's group by the mean of (rows,) -1 (below), 0 and 1 (above); None where it is not known at all."""
    known = is_above_horizon[~np.isnan(is_above_horizon)]
    if not len(known):
        return None
    mean = float(np.mean(known))
    return "below" if mean == -1 else "above" if mean == 1 else "mixed"
