"""AOT (airborne object tracking): EDR, HFAR, AFDR and FPPI, pure functions over arrays.

``official`` is the starter kit's ``core/metrics``; ``corrected`` keeps two intruders' encounters apart, counts hours by the
flights' own lengths, counts false alarms without a track one by one, and accepts an empty result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.aot.encounters import (
    HORIZONS,
    Encounters,
    detected_in_time,
    find_encounters,
    horizon_of,
    tracked_until,
)
from uavsim_benchmarks.evaluate.boxes import ranks_within

__all__ = [
    "AotLevels",
    "AotPairs",
    "AotResults",
    "AotScores",
    "AotTruth",
    "extended_iou",
    "keep_results",
    "match_aot",
    "score_aot",
    "search_score",
]

_SMALL_PX: Final = 100.0
_MATCH, _NO_MATCH = 0.2, 0.02
_MINUTES_PER_FLIGHT: Final = 2
_AREA_PX: Final = 200.0
_PRECISION, _DIGITS = 1e-5, 5


@dataclass(frozen=True, slots=True, eq=False)
class AotTruth:
    """Ground truth: one row per object and image, one for an image without objects.

    Args:
        flight: (N,) numbered in the order of the names.
        image: (N,) numbered in the order of the names.
        frame: (N,).
        time: (N,) nanoseconds.
        object_: (N,) numbered in the order of the names; -1 for an image without objects.
        bird: (N,) the name says Bird or Flock.
        box_px: (N, 4) left, top, width, height; NaN without an object.
        range_m: (N,) NaN for objects that are not planned.
        above_horizon: (N,) -1, 0, 1 or NaN.
        flight_hours: (flights,) lengths of the flights.
    """

    flight: IntArray
    image: IntArray
    frame: IntArray
    time: IntArray
    object_: IntArray
    bird: BoolArray
    box_px: FloatArray
    range_m: FloatArray
    above_horizon: FloatArray
    flight_hours: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class AotResults:
    """Detections.

    Args:
        image: (D,) as in the ground truth.
        box_px: (D, 4) centre x, centre y, width, height.
        score: (D,).
        track: (D,) NaN for detections without a track.
    """

    image: IntArray
    box_px: FloatArray
    score: FloatArray
    track: FloatArray

    def take(self, rows: BoolArray) -> AotResults:
        """Return the detections of a (D,) mask."""
        return AotResults(self.image[rows], self.box_px[rows], self.score[rows], self.track[rows])


@dataclass(frozen=True, slots=True, eq=False)
class AotPairs:
    """All pairs of detections and ground-truth rows of one image: rows of both, match, no match, (K,) each."""

    truth: IntArray
    found: IntArray
    match: BoolArray
    no_match: BoolArray


@dataclass(frozen=True, slots=True)
class AotScores:
    """Scores at one threshold.

    Args:
        edr: encounter detection rate by ``all``, ``below``, ``mixed``, ``above``: (detected, total).
        hfar: false alarms an hour.
        fppi: false positives an image.
        afdr: (detected, total) planned aircraft within the largest range of a valid encounter.
        afdr_above_area: the same of all but birds, larger than 200 px; ``afdr_below_area``: not larger.
    """

    threshold: float
    edr: dict[str, tuple[int, int]]
    hfar: float
    fppi: float
    afdr: tuple[int, int]
    afdr_above_area: tuple[int, int]
    afdr_below_area: tuple[int, int]
    max_range_m: float


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # overflowing boxes overlap nothing
def extended_iou(truth_px: FloatArray, found_px: FloatArray) -> FloatArray:
    """Return (K,) overlaps of pairs; small true boxes, and small detections of them, are enlarged to 100 px.

    Args:
        truth_px: (K, 4) left, top, width, height; NaN or without area gives 0.
        found_px: (K, 4) centre x, centre y, width, height.

    Source: ``match_groundtruth_results.py``, ``extend_bounding_boxes_based_on_gt_area`` and ``augment_with_iou``.
    """
    true = np.concatenate([truth_px[:, :2], truth_px[:, :2] + truth_px[:, 2:]], axis=1)
    found = np.concatenate([found_px[:, :2] - found_px[:, 2:] / 2, found_px[:, :2] + found_px[:, 2:] / 2], axis=1)
    area, stated_area = _area(true), _area(found)
    small = (area > 0) & (area < _SMALL_PX)
    both_small = small & (stated_area < _SMALL_PX - 1e-6)
    true, area = _enlarged(true, area, small)
    found, stated_area = _enlarged(found, stated_area, both_small & (stated_area > 0))
    side = np.minimum(true[:, 2:], found[:, 2:]) - np.maximum(true[:, :2], found[:, :2])
    overlap = np.maximum(side, 0).prod(axis=1)
    union = stated_area + area - overlap
    real = (area > 0) & (union >= 1e-12)
    iou: FloatArray = np.divide(overlap, union, out=np.zeros(len(area)), where=real)
    return iou


def _area(corners: FloatArray) -> FloatArray:
    area: FloatArray = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    return area


def _enlarged(corners: FloatArray, area: FloatArray, rows: BoolArray) -> tuple[FloatArray, FloatArray]:
    corners, area = corners.copy(), area.copy()
    width, height = corners[rows, 2] - corners[rows, 0], corners[rows, 3] - corners[rows, 1]
    wider = np.sqrt(_SMALL_PX * (width / height))
    higher = _SMALL_PX / wider
    corners[rows, 0] -= (wider - width) / 2
    corners[rows, 2] = corners[rows, 0] + wider
    corners[rows, 1] -= (higher - height) / 2
    corners[rows, 3] = corners[rows, 1] + higher
    area[rows] = wider * higher
    return corners, area


def keep_results(
    results: AotResults, truth: AotTruth, *, min_score: float = 0.0, min_track_length: int = 0
) -> AotResults:
    """Filter detections by score and by the age of their track.

    Args:
        results: all detections.
        truth: for the frame and flight of an image.
        min_score: applied before the ages of tracks are counted.
        min_track_length: lowest age of a track at a detection: its frame - the first frame of the track + 1.
    """
    results = results.take(results.score >= min_score)
    if min_track_length <= 0 or not len(results.score):
        return results
    flight, frame = _of_image(truth, truth.flight)[results.image], _of_image(truth, truth.frame)[results.image]
    known = ~np.isnan(results.track)
    pairs, group = np.unique(np.stack([flight[known].astype(float), results.track[known]]), axis=1, return_inverse=True)
    first = np.full(pairs.shape[1], np.iinfo(np.int64).max)
    np.minimum.at(first, group.ravel(), frame[known])
    age = np.zeros(len(frame), np.int64)
    age[known] = 1 + frame[known] - first[group.ravel()]
    return results.take(age >= min_track_length)


def _of_image(truth: AotTruth, column: IntArray) -> IntArray:
    table = np.zeros(int(truth.image.max()) + 1, np.int64)
    table[truth.image] = column
    return table


def match_aot(truth: AotTruth, results: AotResults) -> AotPairs:
    """Pair detections and objects of each image: an overlap of 0.2 is a match, one below 0.02 no match.

    Overlaps between are neither. One detection may match several objects and one object several detections.
    """
    order = np.argsort(truth.image, kind="stable")
    begin = np.searchsorted(truth.image[order], results.image)
    count = np.searchsorted(truth.image[order], results.image, side="right") - begin
    found = np.repeat(np.arange(len(results.image)), count)
    rows = order[np.repeat(begin, count) + ranks_within(found)]
    overlap = extended_iou(truth.box_px[rows], results.box_px[found])
    return AotPairs(rows, found, overlap >= _MATCH, overlap < _NO_MATCH)


class AotLevels:
    """Scores at any threshold from one matching of boxes.

    Matches do not depend on other detections. An object is therefore found up to its highest matching score, a track is
    a false alarm up to its highest false score, and a window is tracked up to the result of ``tracked_until``.

    Args:
        truth: ground truth.
        results: detections after filters; track lengths are filtered before, with ``keep_results``.
        max_range_m: of encounters.
        mode: ``official`` or ``corrected``.
    """

    def __init__(
        self, truth: AotTruth, results: AotResults, *, max_range_m: float = 700.0, mode: str = "official"
    ) -> None:
        self.pairs = match_aot(truth, results)
        self._truth, self._results, self._max_range_m, self._mode = truth, results, max_range_m, mode
        touched, present = np.zeros(len(results.score), bool), np.zeros(len(results.score), bool)
        touched[self.pairs.found[~self.pairs.no_match]] = True
        present[self.pairs.found] = True
        false = results.take(present & ~touched)  # in an image with objects, but off all of them
        known = ~np.isnan(false.track)
        flight = _of_image(truth, truth.flight)[false.image]
        self._false = np.sort(false.score)
        self._false_tracks = _highest(false.score[known], flight[known], false.track[known])
        self._trackless = np.sort(false.score[~known])
        self._images = np.count_nonzero(np.bincount(truth.image))

    def alarms_per_hour(self, threshold: float) -> float:
        """Return false tracks an hour.

        In ``official`` mode every flight counts as two minutes, and a false detection without a track is no alarm.
        """
        tracks, hours = _above(self._false_tracks, threshold), self._truth.flight_hours
        if self._mode == "official":
            return tracks / (len(hours) * _MINUTES_PER_FLIGHT * (1 / 60))
        return (tracks + _above(self._trackless, threshold)) / float(hours.sum())

    def false_per_image(self, threshold: float) -> float:
        """Return false positives an image."""
        return _above(self._false, threshold) / self._images

    def scores_at(self, threshold: float) -> AotScores:
        """Return the scores of detections of at least ``threshold``."""
        afdr, large, small = ((_above(found, threshold), total) for found, total in self._objects)
        return AotScores(
            threshold=threshold,
            edr=self._encounter_rates(threshold),
            hfar=self.alarms_per_hour(threshold),
            fppi=self.false_per_image(threshold),
            afdr=afdr,
            afdr_above_area=large,
            afdr_below_area=small,
            max_range_m=self._farthest_m,
        )

    @cached_property
    def _encounters(self) -> Encounters:
        truth = self._truth
        columns = truth.flight, truth.object_, truth.time, truth.frame, truth.range_m
        return find_encounters(*columns, max_range_m=self._max_range_m, mode=self._mode)

    @cached_property
    def _farthest_m(self) -> float:
        encounters = self._encounters
        valid = encounters.row[encounters.valid[encounters.encounter]] if len(encounters.row) else encounters.row
        return float(self._truth.range_m[valid].max()) if len(valid) else float("nan")

    @cached_property
    def _objects(self) -> tuple[tuple[FloatArray, int], ...]:
        """Return for planned aircraft, large and small objects: ascending scores up to which each is found, and totals."""
        truth = self._truth
        area = _area(np.concatenate([truth.box_px[:, :2], truth.box_px[:, :2] + truth.box_px[:, 2:]], axis=1))
        with np.errstate(invalid="ignore"):
            planned = (truth.range_m >= 0) & (truth.range_m <= self._farthest_m)
            large, small = area > _AREA_PX, (area <= _AREA_PX) & (area != 0)
        row = self.pairs.truth[self.pairs.match]
        score = self._results.score[self.pairs.found[self.pairs.match]]
        objects = []
        for kind in (planned, large & ~truth.bird, small & ~truth.bird):
            member = kind & (truth.object_ >= 0)
            found = member[row]
            highest = _highest(score[found], truth.image[row[found]], truth.object_[row[found]])
            rows = np.flatnonzero(member)
            total = len(_highest(np.zeros(len(rows)), truth.image[rows], truth.object_[rows]))
            objects.append((highest, total))
        return tuple(objects)

    @cached_property
    def _tracked(self) -> list[tuple[str, IntArray, FloatArray]]:
        """Return for each valid encounter the horizon, rows by frame, and scores up to which the rows are tracked."""
        truth, encounters = self._truth, self._encounters
        if not encounters.valid.any():
            return []
        order = np.lexsort((truth.frame[encounters.row], encounters.encounter))
        rows_of = np.split(encounters.row[order], np.flatnonzero(np.diff(encounters.encounter)) + 1)
        rank, encounter = np.zeros(len(truth.frame), np.int64), np.full(len(truth.frame), -1)
        encounter[encounters.row] = encounters.encounter
        rank[np.concatenate(rows_of)] = ranks_within(encounters.encounter)
        row, found = self.pairs.truth[self.pairs.match], self.pairs.found[self.pairs.match]
        matches = np.argsort(encounter[row], kind="stable")
        row, found = row[matches], found[matches]
        tracked = []
        for number in np.flatnonzero(encounters.valid).tolist():
            group = horizon_of(truth.above_horizon[rows_of[number]])
            if group is not None:
                span = slice(*np.searchsorted(encounter[row], [number, number + 1]).tolist())
                track, score = self._results.track[found[span]], self._results.score[found[span]]
                until = tracked_until(len(rows_of[number]), rank[row[span]], track, score)
                tracked.append((group, rows_of[number], until))
        return tracked

    def _encounter_rates(self, threshold: float) -> dict[str, tuple[int, int]]:
        truth = self._truth
        detected, total = dict.fromkeys(("all", *HORIZONS), 0), dict.fromkeys(("all", *HORIZONS), 0)
        for group, rows, until in self._tracked:
            in_time = detected_in_time(until >= threshold, truth.range_m[rows], truth.frame[rows], truth.image[rows])
            for name in ("all", group):
                detected[name] += in_time
                total[name] += 1
        return {name: (detected[name], total[name]) for name in total}


def _highest(score: FloatArray, *keys: AnyArray) -> FloatArray:
    """Return ascending highest scores of each group of equal keys, of (N,) scores and keys."""
    order = np.lexsort((score, *keys))
    is_last = np.ones(len(order), bool)
    is_last[:-1] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    return np.sort(score[order[is_last]])


def _above(ascending: FloatArray, threshold: float) -> int:
    return len(ascending) - int(np.searchsorted(ascending, threshold))


def score_aot(
    truth: AotTruth, results: AotResults, *, threshold: float = 0.0, max_range_m: float = 700.0, mode: str = "official"
) -> AotScores:
    """Score detections of at least ``threshold``; filter track lengths before, with ``keep_results``.

    Args:
        truth: ground truth.
        results: detections.
        threshold: lower scores are left out.
        max_range_m: of encounters.
        mode: ``official`` or ``corrected``.

    Source: ``core/metrics/airborne_metrics/calculate_airborne_metrics.py``.
    """
    return AotLevels(truth, results, max_range_m=max_range_m, mode=mode).scores_at(threshold)


def search_score(
    truth: AotTruth, results: AotResults, *, target: str, value: float, min_score: float = 0.0, mode: str = "official"
) -> float:
    """Return the score that meets a budget, by the starter kit's bisection to 1e-5.

    Args:
        truth: ground truth.
        results: detections after filters.
        target: ``hfar`` or ``fppi``.
        value: the budget.
        min_score: lower bound of the search, or the lowest score where that is higher; the upper bound is 1.
        mode: ``official`` or ``corrected``.

    Source: ``calculate_airborne_metrics.py``, ``search_score_for_target_func``.
    """
    levels = AotLevels(truth, results, mode=mode)
    measure = levels.alarms_per_hour if target == "hfar" else levels.false_per_image
    low, high = max(min_score, float(results.score.min(initial=1.0))), 1.0
    low_rate, middle = measure(low), low + (high - low) / 2
    middle_rate = round(measure(middle), _DIGITS)
    falling = middle_rate <= low_rate
    while high - low > _PRECISION:
        if middle_rate == value:
            return middle
        if (middle_rate > value) == falling and middle_rate != value:
            low = middle
        else:
            high = middle
        middle = low + (high - low) / 2
        middle_rate = round(measure(middle), _DIGITS)
    return high
