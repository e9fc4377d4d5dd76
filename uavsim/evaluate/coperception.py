"""CoPerception-UAV's scores as Where2comm counts them: AP by overlap from above, and how much was sent.

``official`` is Where2comm's code. It sorts detections within each frame only, so that its precision-recall curve follows the
order of the frames; its communication rate counts the cells of the first agent, which sends nothing. ``corrected`` sorts over
all frames and counts the agents that send.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.evaluate.bev_iou import corners_of, turned_iou
from uavsim.evaluate.boxes import Boxes
from uavsim.evaluate.outcome import Curve, EvaluationRequest, Outcome
from uavsim.evaluate.result_input import DetectionInput
from uavsim.typing import BoolArray, FloatArray

__all__ = [
    "IOU_THRESHOLDS",
    "OverlapMatches",
    "communication_rate",
    "communication_volume",
    "evaluate_coperception",
    "match_by_overlap",
    "voc_ap",
]

IOU_THRESHOLDS: Final = (0.3, 0.5, 0.7)
_BYTES_PER_VALUE: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class OverlapMatches:
    """Detections by frame, then by descending score: (thresholds, P) true positives, and (P,) scores."""

    matched: BoolArray
    score: FloatArray
    truth_count: int


def match_by_overlap(truth: Boxes, found: Boxes) -> OverlapMatches:
    """Match by descending score within each sample: each detection takes the free box that it overlaps most.

    Overlaps are rounded to single precision, as there.

    Source: Where2comm, ``opencood/utils/eval_utils.py``, ``caluclate_tp_fp``.
    """
    matched, scores = [np.zeros((len(IOU_THRESHOLDS), 0), bool)], [np.zeros(0)]
    for sample in np.unique(found.sample).tolist():
        own, theirs = (slice(*np.searchsorted(b.sample, [sample, sample + 1]).tolist()) for b in (truth, found))
        corners = [corners_of(b.centre_m[r], b.size_m[r], b.yaw_rad[r]) for b, r in ((found, theirs), (truth, own))]
        iou = turned_iou(*corners).astype(np.float32).astype(np.float64)
        order = np.argsort(-found.score[theirs])
        scores.append(found.score[theirs][order])
        matched.append(np.stack([_take_best(iou[order], threshold) for threshold in IOU_THRESHOLDS]))
    return OverlapMatches(np.concatenate(matched, axis=1), np.concatenate(scores), len(truth))


def _take_best(iou: FloatArray, threshold: float) -> BoolArray:
    matched, free = np.zeros(len(iou), bool), iou.copy()
    if not iou.shape[1]:
        return matched
    for row in np.flatnonzero(iou.max(axis=1) >= threshold).tolist():
        best = int(free[row].argmax())
        if free[row, best] >= threshold:
            matched[row] = True
            free[:, best] = -1.0
    return matched


def voc_ap(matched: BoolArray, truth_count: int) -> float:
    """Return the area under the falling envelope of precision over recall (PASCAL VOC 2010).

    Args:
        matched: (P,) in the order in which detections are counted.
        truth_count: boxes; without any the AP is 0 here, where Where2comm divides by it.
    """
    if not truth_count or not len(matched):
        return 0.0
    hits = np.cumsum(matched)
    recall = np.r_[0.0, hits / truth_count, 1.0]
    precision = np.r_[0.0, hits / np.arange(1, len(hits) + 1), 0.0]
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.flatnonzero(np.diff(recall)) + 1
    return float(((recall[steps] - recall[steps - 1]) * envelope[steps]).sum())


def communication_rate(confidence: FloatArray, threshold: float, *, mode: str = "official") -> float:
    """Return the share of cells that are sent.

    Args:
        confidence: (agents, height, width) the highest confidence of each cell, 0 to 1; the first agent is the one that
            receives.
        threshold: cells above it are sent.
        mode: ``official`` counts the first agent's cells, as the code does; ``corrected`` those of the others.

    Source: Where2comm, ``opencood/models/comm_modules/where2comm.py``.
    """
    sent = confidence > threshold
    counted = sent[:1] if mode == "official" else sent[1:]
    return float(counted.mean()) if counted.size else 0.0


def communication_volume(rate: float, height: int, width: int, channels: int) -> float:
    """Return the binary logarithm of the bytes that one agent sends, the paper's unit; minus infinity for none."""
    with np.errstate(divide="ignore"):
        return float(np.log2(rate * height * width * channels * _BYTES_PER_VALUE))


def evaluate_coperception(request: EvaluationRequest) -> Outcome:
    """Score detections with Where2comm's AP at overlaps of 0.3, 0.5 and 0.7, all classes as one.

    Raises:
        InputError: the results are refused.
        DatasetError: the data set is damaged.
    """
    results = DetectionInput(request)
    found = Boxes.concat(list(results.blocks()))
    matches = match_by_overlap(results.own.take(results.scored()[results.own.sample]), found)
    order = np.arange(len(matches.score))
    if request.mode != "official":
        order = np.argsort(-matches.score, kind="stable")
    by_threshold = list(zip(IOU_THRESHOLDS, matches.matched[:, order], strict=True))
    told = {f"ap_{at}": voc_ap(matched, matches.truth_count) for at, matched in by_threshold}
    lines = {
        f"IoU {at}": (np.cumsum(m) / max(matches.truth_count, 1), np.cumsum(m) / np.arange(1, len(m) + 1))
        for at, m in by_threshold
    }
    curve = Curve("precision and recall by overlap", "recall", "precision", lines)
    counts = {"boxes": matches.truth_count, "detections": len(order)}
    return Outcome("coperception-uav", request.mode, {**told, **counts}, tuple(told), (), (curve,))
