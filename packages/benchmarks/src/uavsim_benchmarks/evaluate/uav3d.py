"""UAV3D's scores: its ground-truth filter, NDS over eight terms, and AP by bird's-eye-view overlap.

``official`` is UAV3D's published code; ``corrected`` uses the headings of boxes, lets a detection claim the next box if its
best one is taken, computes in double precision and breaks ties by the order of the file.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from uavsim.dataset.dialects import STRICT, dialect_of
from uavsim.dataset.reader import open_dataset
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict
from uavsim_benchmarks.evaluate.bev_iou import aligned_iou, axis_bounds, claim_best_free, corners_of, turned_iou
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.nuscenes import detection
from uavsim_benchmarks.evaluate.nuscenes.detection_run import detection_outcome
from uavsim_benchmarks.evaluate.nuscenes.result_input import blocks_with_truth, only_version, reader_of
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, thinned
from uavsim_benchmarks.evaluate.ranges import range_on_ground
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth, read_truth

__all__ = [
    "IOU_THRESHOLDS",
    "IouCounter",
    "claim_best_box",
    "eleven_point_ap",
    "evaluate_uav3d",
    "in_uav3d_square",
    "uav3d_nds",
]

IOU_THRESHOLDS: Final = (0.5, 0.7)
_HALF_SQUARE_M, _HALF_HEIGHT_M, _RANGE_M = 102.4, 10.0, 150.0
_CAMERA: Final = "CAMERA_BOTTOM_id_0"


def in_uav3d_square(boxes: Boxes, ego_m: FloatArray) -> BoolArray:
    """Return (N,) bool: UAV3D evaluates the box, which is in a square of 204.8 m around drone 0, near height 0, with points.

    Args:
        boxes: ground truth.
        ego_m: (samples, 3) position of drone 0's bottom camera with z = 0.

    Source: UAV3D, ``projects/loaders.py``, ``load_gt`` and ``filter_eval_boxes``.
    """
    offset = np.abs(boxes.centre_m - ego_m[boxes.sample])
    inside = (offset < np.array([_HALF_SQUARE_M, _HALF_SQUARE_M, _HALF_HEIGHT_M])).all(axis=1)
    evaluated: BoolArray = inside & (range_on_ground(boxes, ego_m) < _RANGE_M) & boxes.counted
    return evaluated


def uav3d_nds(mean_ap: float, trans_err: float, scale_err: float, orient_err: float) -> float:
    """Return ``(5 mAP + sum of 1 - min(1, error) of ATE, ASE, AOE) / 8``, as in UAV3D's tables."""
    return detection.nuscenes_detection_score(mean_ap, [trans_err, scale_err, orient_err])


def eleven_point_ap(matched: BoolArray, truth_count: int, *, mode: str = "official") -> float:
    """Return the mean of the highest precision at recalls 0, 0.1, ..., 1.

    Args:
        matched: (P,) by descending score: a true positive.
        truth_count: ground-truth boxes.
        mode: ``official`` counts in single precision and compares recalls with ``np.arange(0, 1.001, 0.1)``: a recall of 0.3
            misses its third step, 0.30000000000000004.

    Source: UAV3D, ``projects/mean_ap.py``, ``eval_map`` and ``average_precision``.
    """
    if not truth_count:
        return 0.0
    exact = mode != "official"
    hits = np.cumsum(matched.astype(np.float32)).astype(np.float64)
    recall = hits / truth_count
    precision = hits / np.arange(1, len(hits) + 1)
    if exact:
        return float(np.mean([precision[recall >= step].max(initial=0.0) for step in np.arange(11) / 10]))
    total = np.zeros(1, np.float32)
    for step in np.arange(0, 1 + 1e-3, 0.1):
        total += precision.astype(np.float32)[recall >= step].max(initial=0.0)
    total /= np.float32(11)
    return float(total[0])


def claim_best_box(iou: FloatArray, order: IntArray, threshold: float) -> BoolArray:
    """Match detections of one sample as UAV3D does: each claims the box that it overlaps most, and the first claim wins.

    Args:
        iou: (P, G).
        order: (P,) rows in the order in which they may claim.
        threshold: lowest overlap of a match.

    Returns:
        (P,) True for a true positive; a detection is false if its best box is taken. Overlaps are rounded to single
        precision, as in the reference.
    """
    matched = np.zeros(len(iou), bool)
    if not iou.shape[1]:
        return matched
    iou = iou.astype(np.float32).astype(np.float64)
    best = iou.argmax(axis=1)
    claiming = order[iou.max(axis=1)[order] >= threshold]
    _, first = np.unique(best[claiming], return_index=True)
    matched[claiming[first]] = True
    return matched


class IouCounter:
    """Counter of matches by overlap."""

    def __init__(self, *, mode: str = "official") -> None:
        self.mode = mode
        self._claim: Callable[[FloatArray, IntArray, float], BoolArray] = (
            claim_best_box if mode == "official" else claim_best_free
        )
        self._truth_count = 0
        self._parts: list[tuple[IntArray, FloatArray, BoolArray]] = []

    def add(self, truth: Boxes, found: Boxes) -> None:
        """Count the boxes of complete samples."""
        self._truth_count += len(truth)
        matched = np.zeros((len(IOU_THRESHOLDS), len(found)), bool)
        for sample in np.unique(found.sample).tolist():
            rows = found.sample_rows(sample)
            block, true = found.take(rows), truth.take(truth.sample_rows(sample))
            if not len(true):
                continue  # UAV3D's code ends with an IndexError here; every detection is a false positive
            order = _by_score(block.score)
            iou = self._overlap(block, true)
            for k, threshold in enumerate(IOU_THRESHOLDS):
                matched[k, rows] = self._claim(iou, order, threshold)
        self._parts.append((found.sample, found.score, matched))

    def _overlap(self, found: Boxes, truth: Boxes) -> FloatArray:
        if self.mode == "official":  # their corners are single precision
            bounds = (axis_bounds(boxes.centre_m, boxes.size_m) for boxes in (found, truth))
            return aligned_iou(*(corner.astype(np.float32).astype(np.float64) for corner in bounds))
        return turned_iou(*(corners_of(boxes.centre_m, boxes.size_m, boxes.yaw_rad) for boxes in (found, truth)))

    def precision_recall(self) -> dict[float, tuple[FloatArray, FloatArray]]:
        """Return recall and precision by threshold, (P,) each, by descending score."""
        curves = {}
        for threshold, matched in zip(IOU_THRESHOLDS, self._sorted(), strict=True):
            hits = np.cumsum(matched)
            curves[threshold] = (hits / max(self._truth_count, 1), hits / np.arange(1, len(hits) + 1))
        return curves

    def scores(self) -> dict[str, float]:
        """Return ``{"ap_0.5", "ap_0.7"}``."""
        rows = zip(IOU_THRESHOLDS, self._sorted(), strict=True)
        return {f"ap_{level}": eleven_point_ap(matched, self._truth_count, mode=self.mode) for level, matched in rows}

    def _sorted(self) -> BoolArray:
        none = (np.zeros(0, np.int64), np.zeros(0), np.zeros((len(IOU_THRESHOLDS), 0), bool))
        parts = self._parts or [none]
        sample, score = (np.concatenate([part[k] for part in parts]) for k in range(2))
        matched = np.concatenate([part[2] for part in parts], axis=1)
        by_sample = np.argsort(sample, kind="stable")
        order = by_sample[_by_score(score[by_sample])]
        ordered: BoolArray = matched[:, order]
        return ordered


def _by_score(score: FloatArray) -> IntArray:
    """Return rows by descending score; equal scores stay in the order of the file."""
    return np.argsort(-score, kind="stable")


def evaluate_uav3d(request: EvaluationRequest) -> Outcome:
    """Score detections with UAV3D's profile, on either dialect of a dataset.

    Raises:
        InputError: the results are refused.
        DatasetError: the dataset is damaged.
    """
    truth = _truth(request)
    config = replace(detection.DetectionConfig(), range_m=dict.fromkeys(detection.CLASSES, _RANGE_M))
    evaluated = truth.boxes.take(in_uav3d_square(truth.boxes, truth.ego_m))
    reader = reader_of(request, truth, detection.CLASSES, regions=request.mode == "corrected")
    truth = replace(truth, boxes=Boxes.none())  # frees memory
    counter, by_iou = detection.DetectionCounter(config, mode=request.mode), IouCounter(mode=request.mode)

    def kept(block: Boxes) -> Boxes:
        return block.take(range_on_ground(block, truth.ego_m) < _RANGE_M)

    for true, found in blocks_with_truth(request, truth, reader, evaluated, kept):
        counter.add(true, found)
        by_iou.add(true, found)
    counts = {"samples": len(reader.samples), "ignored_detections": reader.left_out}
    return _outcome(request.mode, counter.score(), by_iou, counts)


def _truth(request: EvaluationRequest) -> Truth:
    version = only_version(request)
    strict = dialect_of(open_dataset(request.truth, version)) is STRICT
    return read_truth(
        request.truth,
        version,
        labels=detection.CLASSES,
        names=_as_car,
        split=request.split,
        ego_channel=_CAMERA,
        ego_is_sensor=not strict,
        many_attributes="vehicle.moving",
    )


def _as_car(_: str) -> str:
    """Return the only class of UAV3D."""
    return "car"


def _outcome(mode: str, scores: detection.DetectionScores, by_iou: IouCounter, counts: JsonDict) -> Outcome:
    errors = scores.tp_errors["car"]
    mean_ap = float(np.mean(list(scores.aps["car"].values())))
    outcome = detection_outcome("uav3d", mode, scores, counts)
    named = {"mate": errors["trans_err"], "mase": errors["scale_err"], "maoe": errors["orient_err"]}
    nds = uav3d_nds(mean_ap, *named.values())
    uav3d_scores = {"mean_ap": mean_ap, "nds": nds, **named, **by_iou.scores()}
    ten_class_scores = {"mean_ap_of_10_classes": scores.mean_ap, "nds_of_10_classes": scores.nds}
    curve = Curve(
        "precision and recall by overlap",
        "recall",
        "precision",
        thinned({f"IoU {threshold}": line for threshold, line in by_iou.precision_recall().items()}),
    )
    return replace(
        outcome,
        scores=outcome.scores | uav3d_scores | ten_class_scores,
        headline=tuple(uav3d_scores),
        curves=(curve, *outcome.curves),
    )
