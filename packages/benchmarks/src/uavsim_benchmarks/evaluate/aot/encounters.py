"""AOT's encounters: stretches in which a planned intruder is within 700 m, and whether they are detected in time."""

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


def tracked_until(rows: int, place: IntArray, track: FloatArray, score: FloatArray) -> FloatArray:
    """Return (rows,) up to which threshold one track has matched at least half of the last 30 rows; -inf: at none.

    Args:
        rows: of an encounter, by frame.
        place: (M,) which of them a match is of.
        track: (M,) the track of its detection; NaN for one without a track, which is never the same as another.
        score: (M,) of its detection.

    Source: ``calculate_airborne_metrics.py``, ``augment_with_moving_most_common_track_id_count_per_encounter``.
    """
    until = np.full(rows, -np.inf)
    names, counts = np.unique(track[~np.isnan(track)], return_counts=True)
    for name in names[counts >= _SHARE_ROWS].tolist() if rows >= _WINDOW_ROWS else ():
        own = np.flatnonzero(track == name)
        own = own[np.argsort(place[own], kind="stable")]
        ranks = ranks_within(place[own])
        scores = np.full((rows, int(ranks.max()) + 1), -np.inf)
        scores[place[own], ranks] = score[own]
        windows = np.lib.stride_tricks.sliding_window_view(scores, _WINDOW_ROWS, axis=0)
        least = np.partition(windows.reshape(len(windows), -1), -_SHARE_ROWS, axis=1)[:, -_SHARE_ROWS]
        until[_WINDOW_ROWS - 1 :] = np.maximum(until[_WINDOW_ROWS - 1 :], least)
    return until


def detected_in_time(tracked: BoolArray, range_m: FloatArray, frame: IntArray, image: IntArray) -> bool:
    """Return whether the first tracked window ends at 300 m or more, or within 30 frames of the encounter's first frame.

    Args:
        tracked: (R,) see ``tracked_until``.
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
