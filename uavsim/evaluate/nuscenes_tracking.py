"""nuScenes tracking: AMOTA, AMOTP and the CLEAR-MOT metrics at the best threshold.

``official`` is devkit 1.2.0's ``TrackingEval`` with py-motmetrics 1.4.0 to the last digit, its two errors included: holes in
tracks are filled with the neighbours' weights exchanged, and distances lose digits far from the origin. ``corrected`` has
neither, and measures times by the data set's own clock instead of 0.5 s a sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim.evaluate.tracking_events import EventCounts, count_events
from uavsim.evaluate.tracks import TrackTable
from uavsim.typing import FloatArray

__all__ = [
    "CLASSES",
    "METRICS",
    "TrackingConfig",
    "TrackingScores",
    "metrics_of_counts",
    "recall_thresholds",
    "score_class",
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
_STEP_S: Final = 0.5  # the devkit's own, whatever the data set's keyframe step
_RANGES_M: Final = dict(zip(CLASSES, (40.0, 50.0, 50.0, 40.0, 40.0, 50.0, 50.0), strict=True))


@dataclass(frozen=True, slots=True)
class TrackingConfig:
    """What the devkit calls ``tracking_nips_2019``; ``step_s`` is the time between samples."""

    range_m: dict[str, float] = field(default_factory=lambda: dict(_RANGES_M))
    match_within_m: float = 2.0
    min_recall: float = 0.1
    thresholds: int = 40
    max_boxes_per_sample: int = 500
    step_s: float = _STEP_S


@dataclass(frozen=True, slots=True, eq=False)
class TrackingScores:
    """Metrics by class (NaN where a class has no ground truth), over all classes, and along recall.

    Args:
        by_class: ``{class: {metric: value}}``.
        overall: sums for counts, means for the others, absent classes left out.
        curves: ``{class: {metric: (thresholds,)}}`` from recall 1 down to ``min_recall``.
    """

    by_class: dict[str, dict[str, float]]
    overall: dict[str, float]
    curves: dict[str, dict[str, FloatArray]]


def score_tracks(
    truth: TrackTable, found: TrackTable, config: TrackingConfig | None = None, *, mode: str = "official"
) -> TrackingScores:
    """Score tracks of all classes; both come from ``tracks.fill_tracks``, labels are indices into ``CLASSES``."""
    config = config or TrackingConfig()
    by_class, curves = {}, {}
    for number, name in enumerate(CLASSES):
        own = truth.take(np.flatnonzero(truth.label == number))
        theirs = found.take(np.flatnonzero(found.label == number))
        by_class[name], curves[name] = score_class(own, theirs, config, mode=mode)
    overall = {}
    for metric in METRICS:
        known = [row[metric] for row in by_class.values() if not np.isnan(row[metric])]
        if metric in _SUMMED:
            overall[metric] = float(np.sum(known))
        else:
            overall[metric] = float(np.mean(known)) if known else float("nan")
    return TrackingScores(by_class, overall, curves)


def score_class(
    truth: TrackTable, found: TrackTable, config: TrackingConfig, *, mode: str = "official"
) -> tuple[dict[str, float], dict[str, FloatArray]]:
    """Return the metrics of one class and their values along recall; all NaN without ground truth.

    Source: nuscenes-devkit 1.2.0, ``eval/tracking/algo.py`` (``accumulate``) and ``evaluate.py``.
    """
    if not len(truth):
        return dict.fromkeys(METRICS, float("nan")), {}
    limit_m = config.match_within_m
    every = count_events(truth, found, np.array([-np.inf]), limit_m=limit_m, mode=mode)
    thresholds = recall_thresholds(np.array(every.match_scores), len(truth), config)
    levels, back = np.unique(thresholds[~np.isnan(thresholds)], return_inverse=True)
    if len(levels):
        counts = count_events(truth, found, levels, limit_m=limit_m, mode=mode)
        at_levels = metrics_of_counts(counts, step_s=config.step_s)
        missing = np.full(int(np.isnan(thresholds).sum()), np.nan)
        curves = {name: np.r_[missing, values[back]] for name, values in at_levels.items()}
    else:
        curves = {name: np.full(config.thresholds, value) for name, value in _worst(truth).items()}
    return _best(curves), curves | {"confidence": thresholds}


def recall_thresholds(match_scores: FloatArray, truth_count: int, config: TrackingConfig) -> FloatArray:
    """Return the scores at which recalls from 1 down to ``min_recall`` are reached; NaN where they are not.

    Args:
        match_scores: (M,) scores of the matches when every prediction is kept.
        truth_count: boxes of the class.
        config: recalls and how many.
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
    """Return MOTA and its kin from counts, (thresholds,) each."""
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


def _worst(truth: TrackTable) -> dict[str, float]:
    """Return what a class counts when no recall is reached: how errors would be spread is not known."""
    count = float(len(truth))
    unknown = dict.fromkeys(("fp", "ids", "frag"), float("nan"))
    late = {"tid": _WORST_S, "lgd": _WORST_S}
    return _WORST | unknown | late | {"ml": float(len(np.unique(truth.track))), "gt": count, "fn": count}


def _best(curves: dict[str, FloatArray]) -> dict[str, float]:
    """Return the metrics at the highest MOTA, of equal ones at the highest recall, and the means over recalls."""
    motar, motp = curves["motar"].copy(), curves["motp"].copy()
    motar[np.isnan(motar)], motp[np.isnan(motp)] = 0.0, _WORST["motp"]
    best = int(np.nanargmax(curves["mota"]))
    return {"amota": float(np.mean(motar)), "amotp": float(np.mean(motp))} | {
        name: float(curves[name][best]) for name in _AT_BEST
    }
