"""nuScenes detection: AP by centre distance, the true-positive errors and NDS.

``official`` equals devkit 1.2.0's ``DetectionEval`` to the last digit. ``corrected`` averages over classes with ground truth
(the devkit counts an absent class as 0) and gives a box without volume a size error of 1 (the devkit raises).
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import NOTHING, Boxes
from uavsim_benchmarks.evaluate.matching import match_by_centre, planar_norm

__all__ = [
    "CLASSES",
    "TP_ERRORS",
    "ClassCurves",
    "DetectionConfig",
    "DetectionCounter",
    "DetectionScores",
    "average_precision",
    "class_curves",
    "nuscenes_detection_score",
    "pair_errors",
    "score_detections",
    "true_positive_error",
]

CLASSES: Final = (
    "car",
    "truck",
    "bus",
    "trailer",
    "construction_vehicle",
    "pedestrian",
    "motorcycle",
    "bicycle",
    "traffic_cone",
    "barrier",
)
TP_ERRORS: Final = ("trans_err", "scale_err", "orient_err", "vel_err", "attr_err")
_RECALL_STEPS: Final = 101
_UNDEFINED: Final = {"traffic_cone": {"orient_err", "vel_err", "attr_err"}, "barrier": {"vel_err", "attr_err"}}
_RANGES_M: Final = dict(zip(CLASSES, (50.0, 50.0, 50.0, 50.0, 50.0, 40.0, 40.0, 40.0, 30.0, 30.0), strict=True))


@dataclass(frozen=True, slots=True)
class DetectionConfig:
    """The devkit's ``detection_cvpr_2019``.

    Args:
        range_m: by class, on the ground from the ego pose of LIDAR_TOP; boxes at or past it are left out.
        distances_m: match thresholds.
        errors_at_m: match threshold for the errors.
    """

    range_m: dict[str, float] = field(default_factory=lambda: dict(_RANGES_M))
    distances_m: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    errors_at_m: float = 2.0
    min_recall: float = 0.1
    min_precision: float = 0.1
    mean_ap_weight: float = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class ClassCurves:
    """One class at one distance, sampled at 101 recalls from 0 to 1; all (101,)."""

    precision: FloatArray
    confidence: FloatArray
    errors: dict[str, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class DetectionScores:
    """The scores of one evaluation.

    Args:
        boxes: ground-truth boxes by class.
        aps: AP by class and distance.
        tp_errors: by class; NaN where an error is not defined for the class.
        curves: by (class, distance).
        match_errors: (5, matches) by class: the errors of each match at ``errors_at_m``, in the order of ``TP_ERRORS``.
        mean_ap: over the classes.
        nds: nuScenes detection score.
    """

    boxes: dict[str, int]
    aps: dict[str, dict[float, float]]
    tp_errors: dict[str, dict[str, float]]
    mean_tp_errors: dict[str, float]
    curves: dict[tuple[str, float], ClassCurves]
    match_errors: dict[str, FloatArray]
    mean_ap: float
    nds: float


def pair_errors(truth: Boxes, found: Boxes, *, half_turn: BoolArray, mode: str = "official") -> FloatArray:
    """Return (5, N) errors of N matched pairs, in the order of ``TP_ERRORS``.

    Args:
        truth: N boxes.
        found: the N matched predictions.
        half_turn: (N,) True where headings are equal modulo 180 degrees (barriers).
        mode: ``corrected`` gives a box without volume a size error of 1.

    Raises:
        InputError: in official mode, a matched box has a size of 0 or less, where the devkit raises.

    Source: nuscenes-devkit 1.2.0, ``eval/common/utils.py``.
    """
    flat = ~((truth.size_m > 0).all(axis=1) & (found.size_m > 0).all(axis=1))
    if flat.any() and mode == "official":
        raise InputError(f"sample {int(truth.sample[flat][0])}: a matched box has no volume; use --mode corrected")
    overlap = np.minimum(truth.size_m, found.size_m).prod(axis=1)
    union = truth.size_m.prod(axis=1) + found.size_m.prod(axis=1) - overlap
    scale = 1 - np.divide(overlap, union, out=np.zeros(len(truth)), where=~flat)
    period = np.where(half_turn, np.pi, 2 * np.pi)
    turn = (truth.yaw_rad - found.yaw_rad + period / 2) % period - period / 2
    same = np.where(truth.attribute == NOTHING, np.nan, truth.attribute == found.attribute)
    return np.stack(
        [
            planar_norm(found.centre_m[:, :2] - truth.centre_m[:, :2]),
            scale,
            np.abs(np.where(turn > np.pi, turn - 2 * np.pi, turn)),
            planar_norm(found.velocity_mps - truth.velocity_mps),
            1 - same,
        ]
    )


class DetectionCounter:
    """Accumulates matches of blocks of samples without holding the boxes.

    It holds the score, sample and matches of each prediction, and the errors of each true positive: about 40 bytes a
        prediction.
    """

    def __init__(self, config: DetectionConfig, *, mode: str = "official") -> None:
        self.config, self.mode = config, mode
        self._truth = np.zeros(len(CLASSES), np.int64)
        self._rows: list[tuple[IntArray, FloatArray, IntArray, BoolArray]] = []
        self._errors: list[FloatArray] = []

    def add(self, truth: Boxes, found: Boxes) -> None:
        """Count the boxes of a block of samples; each sample is complete and in one block."""
        config = self.config
        self._truth += np.bincount(truth.label, minlength=len(CLASSES))
        matched = match_by_centre(truth, found, config.distances_m)
        level = config.distances_m.index(config.errors_at_m)
        hit = matched[level] != NOTHING
        hits = found.take(hit)
        errors = np.full((len(TP_ERRORS), len(found)), np.nan)
        errors[:, hit] = pair_errors(
            truth.take(matched[level][hit]), hits, half_turn=hits.label == CLASSES.index("barrier"), mode=self.mode
        )
        self._rows.append((found.label, found.score, found.sample, matched != NOTHING))
        self._errors.append(errors[:, hit])

    def score(self) -> DetectionScores:
        """Return the scores of all that was added."""
        parts = self._rows or [_no_rows(len(self.config.distances_m))]
        label, score, sample = (np.concatenate([row[k] for row in parts]) for k in range(3))
        matched = np.concatenate([row[3] for row in parts], axis=1)
        errors = np.concatenate(self._errors or [np.zeros((len(TP_ERRORS), 0))], axis=1)
        level = self.config.distances_m.index(self.config.errors_at_m)
        error_row = np.cumsum(matched[level]) - 1
        order = np.lexsort((np.arange(len(score)), sample, score))[::-1]
        aps: dict[str, dict[float, float]] = {}
        tp_errors: dict[str, dict[str, float]] = {}
        curves: dict[tuple[str, float], ClassCurves] = {}
        for number, name in enumerate(CLASSES):
            rows = order[label[order] == number]
            for k, distance in enumerate(self.config.distances_m):
                of_hits = errors[:, error_row[rows[matched[k][rows]]]] if k == level else None
                curve = class_curves(score[rows], matched[k][rows], int(self._truth[number]), errors=of_hits)
                curves[name, distance] = curve
                aps.setdefault(name, {})[distance] = average_precision(
                    curve.precision, min_recall=self.config.min_recall, min_precision=self.config.min_precision
                )
            curve = curves[name, self.config.errors_at_m]
            tp_errors[name] = {
                error: float("nan")
                if error in _UNDEFINED.get(name, ())
                else true_positive_error(curve.errors[error], curve.confidence, min_recall=self.config.min_recall)
                for error in TP_ERRORS
            }
        of_match = label[matched[level]]
        match_errors = {name: errors[:, of_match == number] for number, name in enumerate(CLASSES)}
        return self._summary(aps, tp_errors, curves, match_errors)

    def _summary(
        self,
        aps: dict[str, dict[float, float]],
        tp_errors: dict[str, dict[str, float]],
        curves: dict[tuple[str, float], ClassCurves],
        match_errors: dict[str, FloatArray],
    ) -> DetectionScores:
        present = [name for name, count in zip(CLASSES, self._truth.tolist(), strict=True) if count]
        counted = list(CLASSES) if self.mode == "official" else present
        mean_ap = float(np.mean([np.mean(list(aps[name].values())) for name in counted])) if counted else 0.0
        errors = {error: _nanmean([tp_errors[name][error] for name in counted]) for error in TP_ERRORS}
        return DetectionScores(
            boxes=dict(zip(CLASSES, self._truth.tolist(), strict=True)),
            aps=aps,
            tp_errors=tp_errors,
            mean_tp_errors=errors,
            curves=curves,
            match_errors=match_errors,
            mean_ap=mean_ap,
            nds=nuscenes_detection_score(mean_ap, list(errors.values()), mean_ap_weight=self.config.mean_ap_weight),
        )


def score_detections(
    truth: Boxes, found: Boxes, config: DetectionConfig | None = None, *, mode: str = "official"
) -> DetectionScores:
    """Score predictions in memory; filter them by range first, with ``ranges.keep_evaluated``.

    Args:
        truth: ground truth, labels are indices into ``CLASSES``.
        found: predictions.
        config: default: the devkit's own.
        mode: ``official`` or ``corrected``.
    """
    counter = DetectionCounter(config or DetectionConfig(), mode=mode)
    counter.add(truth, found)
    return counter.score()


def class_curves(
    score: FloatArray, matched: BoolArray, truth_count: int, *, errors: FloatArray | None = None
) -> ClassCurves:
    """Return precision, confidence and running mean errors at 101 recalls.

    Args:
        score: (P,) descending.
        matched: (P,) True for a true positive.
        truth_count: ground-truth boxes of the class.
        errors: (5, hits) errors of the true positives in the same order.

    Source: nuscenes-devkit 1.2.0, ``eval/detection/algo.py``, ``accumulate``.
    """
    if not truth_count or not matched.any():
        ones = np.ones(_RECALL_STEPS)
        return ClassCurves(np.zeros(_RECALL_STEPS), np.zeros(_RECALL_STEPS), dict.fromkeys(TP_ERRORS, ones))
    hits = np.cumsum(matched).astype(float)
    misses = np.cumsum(~matched).astype(float)
    recall = hits / float(truth_count)
    steps = np.linspace(0, 1, _RECALL_STEPS)
    confidence = np.interp(steps, recall, score, right=0)
    precision = np.interp(steps, recall, hits / (misses + hits), right=0)
    resampled = {}
    if errors is not None:
        of_hits = score[matched]
        for name, values in zip(TP_ERRORS, errors, strict=True):
            means = _running_mean(values)
            resampled[name] = np.interp(confidence[::-1], of_hits[::-1], means[::-1])[::-1]
    return ClassCurves(precision, confidence, resampled)


def average_precision(precision: FloatArray, *, min_recall: float, min_precision: float) -> float:
    """Return the mean of the precision above ``min_precision`` over the recalls above ``min_recall``, scaled to 1.

    Args:
        precision: (101,).
        min_recall: lower recalls are left out.
        min_precision: lower precisions count as none.
    """
    above = np.maximum(precision[round(100 * min_recall) + 1 :] - min_precision, 0)
    return float(np.mean(above)) / (1.0 - min_precision)


def true_positive_error(error: FloatArray, confidence: FloatArray, *, min_recall: float) -> float:
    """Return the mean of a running error between ``min_recall`` and the highest recall reached; 1 where that is below it.

    Args:
        error: (101,).
        confidence: (101,); 0 past the highest recall.
        min_recall: lower recalls are left out.
    """
    reached = np.flatnonzero(confidence)
    first, last = round(100 * min_recall) + 1, int(reached[-1]) if len(reached) else 0
    return 1.0 if last < first else float(np.mean(error[first : last + 1]))


def nuscenes_detection_score(mean_ap: float, mean_errors: list[float], *, mean_ap_weight: float = 5.0) -> float:
    """Return NDS: the weighted mean of mAP and of ``1 - error``, each error clipped at 1.

    UAV3D's NDS has three errors (translation, scale, orientation), so its divisor is 8 instead of 10.
    """
    terms = [max(0.0, 1.0 - error) for error in mean_errors]
    return float(mean_ap_weight * mean_ap + np.sum(terms)) / float(mean_ap_weight + len(terms))


def _running_mean(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    if not known.any():
        return np.ones(len(values))
    totals, counts = np.nancumsum(values), np.cumsum(known)
    means: FloatArray = np.divide(totals, counts, out=np.zeros_like(totals), where=counts != 0)
    return means


def _nanmean(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def _no_rows(distances: int) -> tuple[IntArray, FloatArray, IntArray, BoolArray]:
    none = np.zeros(0, np.int64)
    return none, np.zeros(0), none, np.zeros((distances, 0), bool)
