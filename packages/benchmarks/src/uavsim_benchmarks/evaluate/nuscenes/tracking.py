"""nuScenes tracking: AMOTA, AMOTP and the CLEAR-MOT metrics at the best threshold.

``official`` equals devkit 1.2.0's ``TrackingEval`` with py-motmetrics 1.4.0 to the last digit, including two errors: gaps in
tracks are interpolated with swapped weights, and distances lose digits far from the origin. ``corrected`` has neither error,
and uses the dataset's timestamps instead of 0.5 s a sample.
"""

from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np

from uavsim.typing import FloatArray, IntArray
from uavsim_benchmarks.evaluate.nuscenes.tracking_events import EventCounter, EventCounts
from uavsim_benchmarks.evaluate.nuscenes.tracks import TrackStore, TrackTable

__all__ = [
    "CLASSES",
    "METRICS",
    "TrackingConfig",
    "TrackingCounter",
    "TrackingScores",
    "metrics_of_counts",
    "recall_thresholds",
    "score_tracks",
]

CLASSES: Final = ("bicycle", "bus", "car", "motorcycle", "pedestrian", "trailer", "truck")
_AT_BEST: Final[tuple[str, ...]] = (
    "recall", "motar", "gt", "mota", "motp", "mt", "ml", "faf", "tp", "fp", "fn", "ids", "frag", "tid", "lgd",
)  # fmt: skip
METRICS: Final[tuple[str, ...]] = ("amota", "amotp", *_AT_BEST)
_SUMMED: Final = {"mt", "ml", "tp", "fp", "fn", "ids", "frag"}
_WORST: Final = {"recall": 0.0, "motar": 0.0, "mota": 0.0, "motp": 2.0, "mt": 0.0, "faf": 500.0, "tp": 0.0}
_WORST_S: Final = 20.0
_STEP_S: Final = 0.5  # the devkit's own, whatever the dataset's keyframe step
_RANGES_M: Final = dict(zip(CLASSES, (40.0, 50.0, 50.0, 40.0, 40.0, 50.0, 50.0), strict=True))


@dataclass(frozen=True, slots=True)
class TrackingConfig:
    """The devkit's ``tracking_nips_2019``; ``step_s`` is the time between samples."""

    range_m: dict[str, float] = field(default_factory=lambda: dict(_RANGES_M))
    match_within_m: float = 2.0
    min_recall: float = 0.1
    thresholds: int = 40
    step_s: float = _STEP_S


@dataclass(frozen=True, slots=True, eq=False)
class TrackingScores:
    """Metrics by class, over all classes, and along recall.

    Args:
        by_class: ``{class: {metric: value}}``; NaN for a class without ground truth.
        overall: sums for counts and means for the others, over classes with ground truth.
        curves: ``{class: {metric: (thresholds,)}}`` from recall 1 down to ``min_recall``.
    """

    by_class: dict[str, dict[str, float]]
    overall: dict[str, float]
    curves: dict[str, dict[str, FloatArray]]


def score_tracks(
    truth: TrackTable, found: TrackTable, config: TrackingConfig | None = None, *, mode: str = "official"
) -> TrackingScores:
    """Score tracks of all classes; both come from ``tracks.fill_tracks``, labels are indices into ``CLASSES``."""
    with TrackingCounter(config, mode=mode) as counter:
        counter.add(truth, found)
        return counter.score()


class TrackingCounter:
    """Accumulates tracks scene by scene; ``score`` evaluates them again at the thresholds of the first pass.

    Large results are spooled to a temporary file, so that memory holds one scene and the scores of the matches.
    """

    def __init__(self, config: TrackingConfig | None = None, *, mode: str = "official") -> None:
        self.config, self.mode = config or TrackingConfig(), mode
        self._first_pass = [self._counter(np.array([-np.inf])) for _ in CLASSES]
        self._objects = np.zeros(len(CLASSES), np.int64)
        self._names: list[list[IntArray]] = [[] for _ in CLASSES]
        self._waiting = TrackStore()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.close()

    def add(self, truth: TrackTable, found: TrackTable) -> None:
        """Count complete scenes, each once; both come from ``tracks.fill_tracks``, labels are indices into ``CLASSES``."""
        for number, counter in enumerate(self._first_pass):
            class_truth = truth.of_label(number)
            if not len(class_truth):
                continue  # nothing can match
            counter.add(class_truth, found.of_label(number))
            self._objects[number] += len(class_truth)
            self._names[number].append(np.unique(class_truth.track))
        self._waiting.put(truth, found)

    def score(self) -> TrackingScores:
        """Return the scores of all that was added."""
        thresholds = [
            recall_thresholds(counter.match_scores(), count, self.config)
            for counter, count in zip(self._first_pass, self._objects.tolist(), strict=True)
        ]
        levels = [np.unique(of_class[~np.isnan(of_class)]) for of_class in thresholds]
        counters = [self._counter(of_class) for of_class in levels]
        for truth, found in self._waiting:
            for number, counter in enumerate(counters):
                if len(levels[number]):
                    counter.add(truth.of_label(number), found.of_label(number))
        by_class: dict[str, dict[str, float]] = {}
        curves: dict[str, dict[str, FloatArray]] = {}
        for number, name in enumerate(CLASSES):
            if not self._objects[number]:
                by_class[name], curves[name] = dict.fromkeys(METRICS, float("nan")), {}
                continue
            along = self._curves(number, thresholds[number], counters[number].counts())
            by_class[name], curves[name] = _best(along), along | {"confidence": thresholds[number]}
        return TrackingScores(by_class, _overall(by_class), curves)

    def _counter(self, thresholds: FloatArray) -> EventCounter:
        return EventCounter(thresholds, limit_m=self.config.match_within_m, mode=self.mode)

    def _curves(self, number: int, thresholds: FloatArray, counts: EventCounts) -> dict[str, FloatArray]:
        """Return the metrics of one class along recall.

        Source: nuscenes-devkit 1.2.0, ``eval/tracking/algo.py`` (``accumulate``) and ``evaluate.py``.
        """
        known = ~np.isnan(thresholds)
        if not known.any():
            objects = len(np.unique(np.concatenate(self._names[number])))
            worst = _worst(objects=objects, boxes=int(self._objects[number]))
            return {name: np.full(self.config.thresholds, value) for name, value in worst.items()}
        _, back = np.unique(thresholds[known], return_inverse=True)
        missing = np.full(int((~known).sum()), np.nan)
        at_levels = metrics_of_counts(counts, step_s=self.config.step_s)
        return {name: np.r_[missing, values[back]] for name, values in at_levels.items()}


def _overall(by_class: dict[str, dict[str, float]]) -> dict[str, float]:
    overall = {}
    for metric in METRICS:
        known = [row[metric] for row in by_class.values() if not np.isnan(row[metric])]
        if metric in _SUMMED:
            overall[metric] = float(np.sum(known))
        else:
            overall[metric] = float(np.mean(known)) if known else float("nan")
    return overall


def recall_thresholds(match_scores: FloatArray, truth_count: int, config: TrackingConfig) -> FloatArray:
    """Return (thresholds,) scores that reach the recalls from 1 down to ``min_recall``; NaN where a recall is not reached.

    Args:
        match_scores: (M,) scores of the matches without a threshold.
        truth_count: number of boxes of the class.
        config: lowest recall and number of thresholds.
    """
    if not len(match_scores):
        return np.full(config.thresholds, np.nan)
    scores = np.sort(match_scores)[::-1]
    recall = np.arange(1, len(scores) + 1) / truth_count
    steps = np.linspace(config.min_recall, 1, config.thresholds).round(12)
    thresholds = np.interp(steps, recall, scores, right=0)
    thresholds[steps > recall.max()] = np.nan
    return thresholds[::-1]


def metrics_of_counts(counts: EventCounts, *, step_s: float) -> dict[str, FloatArray]:
    """Compute the CLEAR-MOT metrics of counts, (thresholds,) each."""
    gt = counts.objects.astype(float)
    found = counts.matches + counts.switches
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = counts.matches / gt
        wrong = (counts.misses + counts.switches + counts.false_positives) - (1 - recall) * gt
        motar = np.where(counts.matches > 0, np.maximum(0, 1 - wrong / (recall * gt)), np.nan)
        motp = np.where(found > 0, counts.distance_m / found, np.nan)
        tid = np.where(counts.matched_tracks > 0, counts.initialisation_frames * step_s / counts.matched_tracks, np.nan)
        lgd = np.where(counts.matched_tracks > 0, counts.gap_frames * step_s / counts.matched_tracks, np.nan)
    return {
        "recall": found / gt,
        "motar": motar,
        "gt": gt,
        "mota": np.maximum(0, 1.0 - (counts.misses + counts.switches + counts.false_positives) / gt),
        "motp": motp,
        "mt": counts.mostly_tracked.astype(float),
        "ml": counts.mostly_lost.astype(float),
        "faf": counts.false_positives / counts.frames * 100,
        "tp": counts.matches.astype(float),
        "fp": counts.false_positives.astype(float),
        "fn": counts.misses.astype(float),
        "ids": counts.switches.astype(float),
        "frag": counts.fragmentations.astype(float),
        "tid": tid,
        "lgd": lgd,
    }


def _worst(*, objects: int, boxes: int) -> dict[str, float]:
    """Return the metrics of a class when no recall is reached."""
    unknown = dict.fromkeys(("fp", "ids", "frag"), float("nan"))
    late = {"tid": _WORST_S, "lgd": _WORST_S}
    return _WORST | unknown | late | {"ml": float(objects), "gt": float(boxes), "fn": float(boxes)}


def _best(curves: dict[str, FloatArray]) -> dict[str, float]:
    """Return the metrics at the highest MOTA (and the highest recall among equals), and the means over recalls."""
    motar, motp = curves["motar"].copy(), curves["motp"].copy()
    motar[np.isnan(motar)], motp[np.isnan(motp)] = 0.0, _WORST["motp"]
    best = int(np.nanargmax(curves["mota"]))
    return {"amota": float(np.mean(motar)), "amotp": float(np.mean(motp))} | {
        name: float(curves[name][best]) for name in _AT_BEST
    }
