"""AOT's encounters: periods with a planned intruder within 700 m, and their detection in time."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import ranks_within

__all__ = [
    "HORIZONS",
    "Encounters",
    "detected_in_time",
    "find_encounters",
    "horizon_of",
    "tracked_until",
]

HORIZONS: Final = ("below", "mixed", "above")
_LONGEST_STEP_FRAMES: Final = 3
_SHORTEST_ROWS: Final = 30
_FARTHEST_CLOSEST_M: Final = 1.1 * 300
_WINDOW_ROWS: Final = 30
_SHARE_ROWS: Final = 15
_BEFORE_M: Final = 300.0
_FAST_FRAMES: Final = 30


@dataclass(frozen=True, slots=True, eq=False)
class Encounters:
    """Ground-truth rows of encounters.

    Args:
        row: (R,) index of the ground-truth row, in encounter order.
        encounter: (R,) number of its encounter, ascending.
        valid: (E,) evaluated encounters: at least 30 rows, and closer than 330 m at some time.
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
        max_range_m: rows farther away belong to no encounter.
        mode: ``official`` joins two intruders of a flight into one encounter when the second appears up to three frames after
            the first disappears; ``corrected`` does not.

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


def tracked_until(rows: int, match_row: IntArray, track: FloatArray, score: FloatArray) -> FloatArray:
    """Return (rows,) highest thresholds at which one track matches at least half of the last 30 rows; -inf for none.

    Args:
        rows: number of rows of an encounter, sorted by frame.
        match_row: (M,) row of each match.
        track: (M,) track of the detection; NaN without a track, which equals no other.
        score: (M,) score of the detection.

    Source: ``calculate_airborne_metrics.py``, ``augment_with_moving_most_common_track_id_count_per_encounter``.
    """
    until = np.full(rows, -np.inf)
    names, counts = np.unique(track[~np.isnan(track)], return_counts=True)
    for name in names[counts >= _SHARE_ROWS].tolist() if rows >= _WINDOW_ROWS else ():
        matches = np.flatnonzero(track == name)
        matches = matches[np.argsort(match_row[matches], kind="stable")]
        ranks = ranks_within(match_row[matches])
        scores = np.full((rows, int(ranks.max()) + 1), -np.inf)
        scores[match_row[matches], ranks] = score[matches]
        windows = np.lib.stride_tricks.sliding_window_view(scores, _WINDOW_ROWS, axis=0)
        least = np.partition(windows.reshape(len(windows), -1), -_SHARE_ROWS, axis=1)[:, -_SHARE_ROWS]
        until[_WINDOW_ROWS - 1 :] = np.maximum(until[_WINDOW_ROWS - 1 :], least)
    return until


def detected_in_time(tracked: BoolArray, range_m: FloatArray, frame: IntArray, image: IntArray) -> bool:
    """Return whether the first tracked window ends at 300 m or more, or within 30 frames of the encounter's first frame.

    Args:
        tracked: (R,) bool, from ``tracked_until``.
        range_m: (R,) of the encounter's rows.
        frame: (R,).
        image: (R,) rank of the image by name; the starter kit takes the first by name.
    """
    rows = np.flatnonzero(tracked)
    if not len(rows):
        return False
    first = rows[np.argmin(image[rows])]
    return bool(range_m[first] >= _BEFORE_M or frame[first] - frame.min() < _FAST_FRAMES)


def horizon_of(is_above_horizon: FloatArray) -> str | None:
    """Return an encounter's group by the mean of (rows,) -1 (below), 0 and 1 (above); None where all are NaN."""
    known = is_above_horizon[~np.isnan(is_above_horizon)]
    if not len(known):
        return None
    mean = float(np.mean(known))
    return "below" if mean == -1 else "above" if mean == 1 else "mixed"
