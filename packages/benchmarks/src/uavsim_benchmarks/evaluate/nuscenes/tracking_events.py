"""CLEAR-MOT events at many score thresholds at once: matches, switches, misses and false positives.

A frame is processed for all thresholds together: previous matches continue first, then the others are assigned. Unique
candidates are assigned directly; the rest is solved by the solver of py-motmetrics on the same cost matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import NOTHING
from uavsim_benchmarks.evaluate.nuscenes.tracks import TrackTable

__all__ = ["EventCounter", "EventCounts", "count_events"]

_MARGIN_M: Final = 1e-3  # largest error of the devkit's expanded distance


@dataclass(frozen=True, slots=True, eq=False)
class EventCounts:
    """Sums over frames and objects, (thresholds,) each; ``match_scores`` are the scores of plain matches.

    ``initialisation_frames`` and ``gap_frames`` are sums over ``matched_tracks``, the objects with a match.
    """

    frames: IntArray
    objects: IntArray
    matches: IntArray
    switches: IntArray
    false_positives: IntArray
    misses: IntArray
    distance_m: FloatArray
    mostly_tracked: IntArray
    mostly_lost: IntArray
    fragmentations: IntArray
    matched_tracks: IntArray
    initialisation_frames: IntArray
    gap_frames: IntArray
    match_scores: FloatArray


def count_events(
    truth: TrackTable, found: TrackTable, thresholds: FloatArray, *, limit_m: float, mode: str = "official"
) -> EventCounts:
    """Count events of one class.

    Args:
        truth: rows of one class.
        found: rows of one class.
        thresholds: (T,) predictions below are left out.
        limit_m: distance from which on objects and predictions do not match.
        mode: ``official`` computes distances as the devkit does, by the expanded square (scikit-learn's
            ``euclidean_distances``), which is off by micrometres to millimetres far from the origin.

    Source: py-motmetrics 1.4.0, ``mot.py``; nuscenes-devkit 1.2.0, ``eval/tracking/algo.py`` and ``metrics.py``.
    """
    counter = EventCounter(thresholds, limit_m=limit_m, mode=mode)
    counter.add(truth, found)
    return counter.counts()


def _of_scene(table: TrackTable, scene: int) -> TrackTable:
    return table.take(np.arange(*np.searchsorted(table.scene, [scene, scene + 1])))


class EventCounter:
    """Counts events scene by scene; see ``count_events``."""

    def __init__(self, thresholds: FloatArray, *, limit_m: float, mode: str = "official") -> None:
        self.thresholds = np.asarray(thresholds, dtype=np.float64)
        self.limit_m, self.mode = limit_m, mode
        names = set(EventCounts.__slots__) - {"match_scores", "distance_m"}
        self.sums: dict[str, IntArray] = {name: np.zeros(len(thresholds), np.int64) for name in sorted(names)}
        self.distance_m = np.zeros(len(thresholds))
        self.scores: list[FloatArray] = []

    def add(self, truth: TrackTable, found: TrackTable) -> None:
        """Count whole scenes of one class."""
        for scene in np.union1d(truth.scene, found.scene).tolist():
            self._walk_scene(_of_scene(truth, scene), _of_scene(found, scene))

    def counts(self) -> EventCounts:
        """Return the sums so far."""
        return EventCounts(**self.sums, distance_m=self.distance_m, match_scores=self.match_scores())

    def match_scores(self) -> FloatArray:
        """Return (matches,) scores of plain matches so far; counted with one threshold only."""
        return np.concatenate([np.zeros(0), *self.scores])

    def _walk_scene(self, truth: TrackTable, found: TrackTable) -> None:
        frames = np.union1d(truth.frame, found.frame)
        _, objects = np.unique(truth.track, return_inverse=True)
        _, tracks = np.unique(found.track, return_inverse=True)
        count = int(objects.max()) + 1 if len(objects) else 0
        present = np.zeros((count, len(frames)), bool)
        present[objects, np.searchsorted(frames, truth.frame)] = True
        hit = np.zeros((len(self.thresholds), count, len(frames)), bool)
        last = np.full((len(self.thresholds), count), NOTHING, dtype=np.int64)
        for number, frame in enumerate(frames.tolist()):
            object_rows = slice(*np.searchsorted(truth.frame, [frame, frame + 1]).tolist())
            prediction_rows = slice(*np.searchsorted(found.frame, [frame, frame + 1]).tolist())
            step = _Frame(
                objects[object_rows],
                tracks[prediction_rows],
                truth.position_m[object_rows],
                found.position_m[prediction_rows],
                self._above_threshold(found.score[prediction_rows]),
            )
            self._count(step, found.score[prediction_rows], last, hit[:, :, number])
        if count:
            self._count_objects(hit, present)

    def _above_threshold(self, score: FloatArray) -> BoolArray:
        above_threshold: BoolArray = score[None, :] >= self.thresholds[:, None]
        return above_threshold

    def _count(self, step: _Frame, score: FloatArray, last: IntArray, hit: BoolArray) -> None:
        pairs = step.match(last, limit_m=self.limit_m, mode=self.mode)
        threshold, row, column = pairs.threshold, pairs.row, pairs.column
        objects = step.objects[row]
        before, now = last[threshold, objects], step.tracks[column]
        switched = (before != NOTHING) & (before != now)
        size = len(self.thresholds)
        matched = np.bincount(threshold, minlength=size)
        switches = np.bincount(threshold[switched], minlength=size)
        predictions = step.above_threshold.sum(axis=1)
        self.sums["frames"] += (predictions > 0) | (len(step.objects) > 0)
        self.sums["objects"] += len(step.objects)
        self.sums["matches"] += matched - switches
        self.sums["switches"] += switches
        self.sums["false_positives"] += predictions - matched
        self.sums["misses"] += len(step.objects) - matched
        self.distance_m += np.bincount(threshold, weights=pairs.distance_m, minlength=size)
        last[threshold, objects] = now
        hit[threshold, objects] = True
        if size == 1:
            self.scores.append(score[np.isin(step.tracks, now[~switched])])

    def _count_objects(self, hit: BoolArray, present: BoolArray) -> None:
        """Add counts by object: tracked share, delay of initialisation and gaps."""
        ratio = hit.sum(axis=2) / present.sum(axis=1)
        found = hit.any(axis=2)
        first, begin = hit.argmax(axis=2), present.argmax(axis=1)
        final = hit.shape[2] - 1 - hit[:, :, ::-1].argmax(axis=2)
        self.sums["mostly_tracked"] += (ratio >= 0.8).sum(axis=1)
        self.sums["mostly_lost"] += (ratio < 0.2).sum(axis=1)
        self.sums["matched_tracks"] += found.sum(axis=1)
        self.sums["initialisation_frames"] += np.where(found, first - begin, 0).sum(axis=1)
        missed = present & ~hit
        run, longest = np.zeros(found.shape, np.int64), np.zeros(found.shape, np.int64)
        breaks = np.zeros(found.shape, np.int64)
        for frame in range(hit.shape[2]):
            run = (run + 1) * missed[:, :, frame]
            longest = np.maximum(longest, run)
            breaks += (run == 1) & (frame > first) & (frame < final) & found
        self.sums["gap_frames"] += np.where(found, longest, 0).sum(axis=1)
        self.sums["fragmentations"] += breaks.sum(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Matches of one frame: threshold number, row of the objects, column of the predictions, distance."""

    threshold: IntArray
    row: IntArray
    column: IntArray
    distance_m: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """One frame of one class: n objects, k predictions; ``above_threshold`` is (T, k)."""

    objects: IntArray
    tracks: IntArray
    object_position_m: FloatArray
    track_position_m: FloatArray
    above_threshold: BoolArray

    def match(self, last: IntArray, *, limit_m: float, mode: str) -> _Pairs:
        """Match at every threshold; ``last`` is (T, objects of the scene) the track that each object had last."""
        row, column, plain = self._candidates(limit_m)
        if not len(row):
            none = np.zeros(0, np.int64)
            return _Pairs(none, none, none, np.zeros(0))
        distance = self._expanded(row, column) if mode == "official" else np.tile(plain, (len(self.above_threshold), 1))
        valid = self.above_threshold[:, column] & (distance < limit_m)
        continued = valid & (last[:, self.objects[row]] == self.tracks[column])
        odd = self._claimed_twice(continued, column) | (len(np.unique(self.tracks)) < len(self.tracks))
        rest = (
            valid
            & ~self._touched(continued, row, len(self.objects))
            & ~self._touched(continued, column, len(self.tracks))
        )
        hard = (
            odd
            | self._claimed_twice(rest, row, len(self.objects))
            | self._claimed_twice(rest, column, len(self.tracks))
        )
        matched = (continued | rest) & ~hard[:, None]
        solved: dict[bytes, IntArray] = {}
        for t in np.flatnonzero(hard).tolist():
            before = last[t, self.objects]
            same = valid[t].tobytes() + before.tobytes() + self.above_threshold[t].tobytes() + distance[t].tobytes()
            if same not in solved:
                solved[same] = self._solve(t, before, row[valid[t]], column[valid[t]], distance[t][valid[t]])
            matched[t, np.flatnonzero(valid[t])[solved[same]]] = True
        threshold, pair = np.nonzero(matched)
        return _Pairs(threshold, row[pair], column[pair], distance[threshold, pair])

    def _candidates(self, limit_m: float) -> tuple[IntArray, IntArray, FloatArray]:
        offset = self.object_position_m[:, None, :] - self.track_position_m[None, :, :]
        squared = offset[:, :, 0] ** 2 + offset[:, :, 1] ** 2
        row, column = np.nonzero(squared < (limit_m + _MARGIN_M) ** 2)
        return row, column, np.sqrt(squared[row, column])

    def _expanded(self, row: IntArray, column: IntArray) -> FloatArray:
        """Return (T, pairs) distances by |x|² - 2xy + |y|², rounded as for the predictions above the threshold."""
        distance = np.full((len(self.above_threshold), len(row)), np.inf)
        x = self.object_position_m
        xx = np.einsum("ij,ij->i", x, x)
        for t, above in enumerate(self.above_threshold):
            if t and np.array_equal(above, self.above_threshold[t - 1]):
                distance[t] = distance[t - 1]
                continue
            y = self.track_position_m[above]
            pairs = np.flatnonzero(above[column])
            if not len(pairs):
                continue
            object_row, track_row = row[pairs], (np.cumsum(above) - 1)[column[pairs]]
            squared = (-2 * (x @ y.T))[object_row, track_row]
            squared += xx[object_row]
            squared += np.einsum("ij,ij->i", y, y)[track_row]
            distance[t, pairs] = np.sqrt(np.maximum(squared, 0))
        return distance

    @staticmethod
    def _touched(chosen: BoolArray, end: IntArray, size: int) -> BoolArray:
        """Return (T, pairs): the pair shares its row or column with a chosen pair."""
        threshold, pair = np.nonzero(chosen)
        used = np.zeros((len(chosen), size), bool)
        used[threshold, end[pair]] = True
        touched: BoolArray = used[:, end]
        return touched

    @staticmethod
    def _claimed_twice(chosen: BoolArray, end: IntArray, size: int | None = None) -> BoolArray:
        """Return (T,): some row or column is in two chosen pairs."""
        size = size or int(end.max()) + 1
        threshold, pair = np.nonzero(chosen)
        counts = np.bincount(threshold * size + end[pair], minlength=len(chosen) * size)
        twice: BoolArray = counts.reshape(len(chosen), size).max(axis=1) > 1
        return twice

    def _solve(self, t: int, before: IntArray, row: IntArray, column: IntArray, distance: FloatArray) -> IntArray:
        """Return indices of the matched pairs at one threshold, by the steps of py-motmetrics."""
        columns = np.flatnonzero(self.above_threshold[t])
        reduced_column = np.full(len(self.tracks), NOTHING, dtype=np.int64)
        reduced_column[columns] = np.arange(len(columns))
        tracks = self.tracks[columns]
        cost = np.full((len(self.objects), len(columns)), np.nan)
        cost[row, reduced_column[column]] = distance
        number = np.full(cost.shape, NOTHING, dtype=np.int64)
        number[row, reduced_column[column]] = np.arange(len(row))
        rows, reduced_columns = _continued(cost, before, tracks)
        chosen = number[rows, reduced_columns].tolist()
        cost[rows], cost[:, reduced_columns] = np.nan, np.nan
        rows, reduced_columns = _assign(cost)
        chosen += number[rows, reduced_columns][np.isfinite(cost[rows, reduced_columns])].tolist()
        return np.array(chosen, dtype=np.int64)


def _continued(cost: FloatArray, before: IntArray, tracks: IntArray) -> tuple[IntArray, IntArray]:
    """Return rows and columns of continued matches: each object takes its last track if it is free and near.

    Args:
        cost: (n, k) distances, NaN where they are too far apart.
        before: (n,) last track of each object, or ``NOTHING``.
        tracks: (k,).
    """
    if not len(tracks):
        none = np.zeros(0, np.int64)
        return none, none
    order = np.argsort(tracks, kind="stable")
    if np.any(np.diff(tracks[order]) == 0):
        return _continued_one_by_one(cost, before, tracks)
    rank = np.minimum(np.searchsorted(tracks, before, sorter=order), len(tracks) - 1)
    column = order[rank]
    row = np.flatnonzero((before != NOTHING) & (tracks[column] == before))
    row = row[np.isfinite(cost[row, column[row]])]
    _, first = np.unique(column[row], return_index=True)
    return row[first], column[row[first]]


def _continued_one_by_one(cost: FloatArray, before: IntArray, tracks: IntArray) -> tuple[IntArray, IntArray]:
    """Return the same for a frame with duplicate tracks: an object takes the first free one."""
    used = np.zeros(len(tracks), bool)
    pairs = []
    for row in np.flatnonzero(before != NOTHING).tolist():
        same = np.flatnonzero(~used & (tracks == before[row]))
        if len(same) and np.isfinite(cost[row, same[0]]):
            used[same[0]] = True
            pairs.append((row, int(same[0])))
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return rows, columns


def _assign(cost: FloatArray) -> tuple[IntArray, IntArray]:
    """Solve an assignment with forbidden (NaN) pairs, which get a prohibitive cost.

    Source: py-motmetrics 1.4.0, ``lap.py``, ``add_expensive_edges``: the same cost gives the same ties.
    """
    from scipy.optimize import linear_sum_assignment  # slow to import

    if not cost.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    allowed = np.isfinite(cost)
    if not allowed.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    largest = np.abs(cost[allowed]).max() + 1
    rows, columns = linear_sum_assignment(np.where(allowed, cost, 2 * min(cost.shape) * largest + 1))
    return rows, columns
