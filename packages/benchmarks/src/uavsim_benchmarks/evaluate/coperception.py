"""CoPerception-UAV's scores as in Where2comm: AP by bird's-eye-view overlap, and communication volume.

``official`` is Where2comm's code. It sorts detections within each frame only, so that its precision-recall curve
depends on the order of the frames, and counts the cells of the first agent, which receives. ``corrected`` sorts over
all frames and counts the sending agents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.bev_iou import claim_best_free, corners_of, turned_iou
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.nuscenes.result_input import DetectionInput
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, thinned
from uavsim_benchmarks.evaluate.readers.confidence_maps import read_confidence_maps

__all__ = [
    "IOU_THRESHOLDS",
    "OverlapMatches",
    "communication_rate",
    "communication_volume",
    "evaluate_coperception",
    "match_by_overlap",
    "mean_communication_rate",
    "voc_ap",
]

IOU_THRESHOLDS: Final = (0.3, 0.5, 0.7)
_BYTES_PER_VALUE: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class OverlapMatches:
    """Detections by frame, then by descending score: (thresholds, P) true positives, (P,) scores and samples."""

    matched: BoolArray
    score: FloatArray
    sample: IntArray
    truth_count: int

    @classmethod
    def concat(cls, parts: list[OverlapMatches], *, truth_count: int) -> OverlapMatches:
        """Join parts of different samples and sort them by frame."""
        sample = np.concatenate([np.zeros(0, np.int64), *(part.sample for part in parts)])
        order = np.argsort(sample, kind="stable")
        matched = np.concatenate([np.zeros((len(IOU_THRESHOLDS), 0), bool), *(part.matched for part in parts)], axis=1)
        score = np.concatenate([np.zeros(0), *(part.score for part in parts)])
        return cls(matched[:, order], score[order], sample[order], truth_count)


def match_by_overlap(truth: Boxes, found: Boxes) -> OverlapMatches:
    """Match by descending score within each sample, each detection to the free box that it overlaps most.

    Overlaps are rounded to single precision, as in the reference.

    Source: Where2comm, ``opencood/utils/eval_utils.py``, ``caluclate_tp_fp``.
    """
    parts = []
    for sample in np.unique(found.sample).tolist():
        block, true = found.take(found.sample_rows(sample)), truth.take(truth.sample_rows(sample))
        corners = [corners_of(boxes.centre_m, boxes.size_m, boxes.yaw_rad) for boxes in (block, true)]
        iou = turned_iou(*corners).astype(np.float32).astype(np.float64)
        order = np.argsort(-block.score)
        matched = np.stack([claim_best_free(iou, order, threshold) for threshold in IOU_THRESHOLDS])[:, order]
        parts.append(OverlapMatches(matched, block.score[order], block.sample, len(true)))
    return OverlapMatches.concat(parts, truth_count=len(truth))


def voc_ap(matched: BoolArray, truth_count: int) -> float:
    """Return the area under the falling envelope of precision over recall (PASCAL VOC 2010).

    Args:
        matched: (P,) true positives in counting order.
        truth_count: number of boxes; 0 gives an AP of 0, where Where2comm divides by zero.
    """
    if not truth_count or not len(matched):
        return 0.0
    hits = np.cumsum(matched)
    recall = np.r_[0.0, hits / truth_count, 1.0]
    precision = np.r_[0.0, hits / np.arange(1, len(hits) + 1), 0.0]
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.flatnonzero(np.diff(recall)) + 1
    return float(((recall[steps] - recall[steps - 1]) * envelope[steps]).sum())


def communication_rate(
    confidence: FloatArray, threshold: float, *, smooth: tuple[int, float] | None = None, mode: str = "official"
) -> float:
    """Return the share of cells sent in one frame.

    Args:
        confidence: (agents, height, width) highest confidence of each cell, 0 to 1, after the sigmoid; the first agent
            receives.
        threshold: cells above it are sent.
        smooth: size in cells and sigma of a Gaussian filter of the confidence; default: none.
        mode: ``official`` counts the first agent's cells, as the code does, in single precision; ``corrected`` those of the
            others.

    Source: Where2comm, ``opencood/models/comm_modules/where2comm.py``.
    """
    exact = mode != "official"
    cells = np.asarray(confidence, dtype=np.float64 if exact else np.float32)
    if smooth is not None:
        cells = _smoothed(cells, *smooth)
    sent: BoolArray = np.greater(cells, cells.dtype.type(threshold))
    counted = sent[1:] if exact else sent[:1]
    if not counted.size:
        return 0.0
    return float(counted.mean()) if exact else float(np.float32(counted.sum()) / np.float32(counted.size))


def _smoothed(cells: AnyArray, size: int, sigma: float) -> AnyArray:
    """Smooth (agents, height, width) cells by the reference's unnormalised Gaussian, with zeros outside of the map."""
    from scipy.ndimage import correlate  # slow to import

    x = np.arange(size) - size // 2
    kernel = np.exp(-(x[:, None] ** 2 + x[None, :] ** 2) / (2 * sigma**2)) / (2 * np.pi * sigma)
    return np.stack([correlate(of_agent, kernel.astype(cells.dtype), mode="constant") for of_agent in cells])


def mean_communication_rate(rates: Sequence[float], *, mode: str = "official") -> float:
    """Return the mean over frames, in single precision when ``official``; 0 without frames."""
    if not len(rates):
        return 0.0
    if mode != "official":
        return float(np.mean(rates))
    total = np.float32(0)
    for rate in rates:
        total += np.float32(rate)
    return float(total / np.float32(len(rates)))


def communication_volume(rate: float, height: int, width: int, channels: int) -> float:
    """Return log2 of the bytes that one agent sends, as in the paper; minus infinity for 0 bytes."""
    with np.errstate(divide="ignore"):
        return float(np.log2(rate * height * width * channels * _BYTES_PER_VALUE))


def evaluate_coperception(request: EvaluationRequest) -> Outcome:
    """Score detections with Where2comm's AP at overlaps of 0.3, 0.5 and 0.7, all classes as one.

    Options: ``skip_empty=1`` leaves out frames without detections, boxes and all, as Where2comm's ``inference.py`` does;
    ``confidence=FILE.npz`` counts communication: an array (agents, height, width) a frame; ``threshold``, ``channels``.

    Raises:
        InputError: the results are refused.
        DatasetError: the dataset is damaged.
    """
    results = DetectionInput(request)
    true_boxes, counted = results.true_boxes, np.zeros(len(results.truth.samples), bool)
    parts = []
    for block in results.blocks():
        samples = np.unique(block.sample)
        counted[samples] = True
        parts.append(match_by_overlap(true_boxes.take(true_boxes.rows_of(samples)), block))
    scored = results.scored()
    if request.number("skip_empty", 0):
        scored &= counted
    matches = OverlapMatches.concat(parts, truth_count=int(scored[true_boxes.sample].sum()))
    order = np.arange(len(matches.score))
    if request.mode != "official":
        order = np.argsort(-matches.score, kind="stable")
    levels = list(zip(IOU_THRESHOLDS, matches.matched[:, order], strict=True))
    scores: dict[str, float] = {f"ap_{level}": voc_ap(matched, matches.truth_count) for level, matched in levels}
    scores |= _communication(request)
    lines = {
        f"IoU {level}": (np.cumsum(hit) / max(matches.truth_count, 1), np.cumsum(hit) / np.arange(1, len(hit) + 1))
        for level, hit in levels
    }
    curve = Curve("precision and recall by overlap", "recall", "precision", thinned(lines))
    counts = {"boxes": matches.truth_count, "detections": len(order)}
    return Outcome("coperception-uav", request.mode, {**scores, **counts}, tuple(scores), (), (curve,))


def _communication(request: EvaluationRequest) -> dict[str, float]:
    path = request.path("confidence")
    if path is None:
        return {}
    maps = read_confidence_maps(path)
    threshold, channels = request.number("threshold", 0.01), request.count("channels", 64)
    rates = [communication_rate(cells, threshold, mode=request.mode) for cells in maps]
    rate = mean_communication_rate(rates, mode=request.mode)
    height, width = maps[0].shape[1:]
    return {"communication_rate": rate, "communication_volume": communication_volume(rate, height, width, channels)}
