"""nuScenes' greedy matching by centre distance, vectorised over samples and thresholds.

The devkit visits predictions by descending score and assigns each the nearest free box of its class. Deferred acceptance gives
the same pairs: every prediction proposes to its nearest box, a box keeps the best proposal, and rejected predictions
propose to the next box (Gale and Shapley: with one preference order for all boxes, the stable matching is unique).
A few rounds serve all samples and thresholds, and only boxes of the class in a strip around a prediction are
candidates.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import NOTHING, SIDES, Boxes, ranks_within

__all__ = ["by_descending_score", "match_by_centre", "planar_norm"]

_CELLS_PER_BLOCK: Final = 4_000_000  # predictions x boxes of their samples; of these, only pairs in a strip are held


def planar_norm(vector: FloatArray) -> FloatArray:
    """Return the length of each (..., 2) vector, bit-equal to ``np.linalg.norm`` of a single one.

    Both end in the same BLAS dot product, which may fuse the multiplication into the addition; ``sqrt(x*x + y*y)`` differs
    from it in the last bit of one pair in ten.
    """
    contiguous = np.ascontiguousarray(vector)
    norm: FloatArray = np.sqrt(np.vecdot(contiguous, contiguous))
    return norm


def by_descending_score(found: Boxes) -> IntArray:
    """Return (P,) rows sorted by sample, then by descending score; the later of equal scores comes first, as in the devkit."""
    order: IntArray = np.lexsort((-np.arange(len(found)), -found.score, found.sample))
    return order


def match_by_centre(truth: Boxes, found: Boxes, thresholds_m: tuple[float, ...]) -> IntArray:
    """Match predictions to ground truth of the same sample and class, greedily by score.

    Args:
        truth: G boxes.
        found: P boxes with scores.
        thresholds_m: T distances on the ground; a match is nearer than this.

    Returns:
        (T, P) row of ``truth`` that each prediction takes, or ``NOTHING``.

    Source: nuscenes-devkit 1.2.0, ``eval/detection/algo.py``, ``accumulate``.
    """
    matched = np.full((len(thresholds_m), len(found)), NOTHING, dtype=np.int64)
    if not len(truth) or not len(found):
        return matched
    limits = np.asarray(thresholds_m, dtype=np.float64)
    for rows, truth_rows in _blocks(truth, found):
        block = found.take(rows)
        order = by_descending_score(block)
        pairs = _near_pairs(truth.take(truth_rows), block.take(order), limit_m=float(limits.max()))
        taken = _assign(*pairs, limits=limits, count=len(block))
        taken[taken != NOTHING] += truth_rows.start
        matched[:, rows.start + order] = taken
    return matched


def _blocks(truth: Boxes, found: Boxes) -> Iterator[tuple[slice, slice]]:
    """Yield slices of predictions and ground truth of whole samples, with a bounded number of pairs."""
    samples = np.unique(found.sample)
    begin, end = (np.searchsorted(found.sample, samples, side=side) for side in SIDES)
    first, last = (np.searchsorted(truth.sample, samples, side=side) for side in SIDES)
    block = np.cumsum((end - begin) * (last - first)) // _CELLS_PER_BLOCK
    starts = np.flatnonzero(np.r_[True, block[1:] != block[:-1]])
    for one, other in zip(starts, np.r_[starts[1:], len(samples)] - 1, strict=True):
        yield slice(int(begin[one]), int(end[other])), slice(int(first[one]), int(last[other]))


def _near_pairs(truth: Boxes, found: Boxes, *, limit_m: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return pairs of one sample and class nearer than ``limit_m``: prediction rows, box rows and distances, (K,) each.

    Pairs are sorted by prediction, distance and box.
    """
    x_m = truth.centre_m[:, 0]
    low_m, high_m = x_m.min(initial=0.0) - 3 * (limit_m + 1), x_m.max(initial=0.0) + 3 * (limit_m + 1)
    classes = 1 + max(truth.label.max(initial=0), found.label.max(initial=0))
    first = min(truth.sample.min(initial=0), found.sample.min(initial=0))

    def strip_x(boxes: Boxes) -> FloatArray:
        """Return x, offset so that groups of samples and classes do not overlap."""
        group = (boxes.sample - first) * classes + boxes.label
        x: FloatArray = group * (high_m - low_m) + (np.clip(boxes.centre_m[:, 0], low_m, high_m) - low_m)
        return x

    truth_x, found_x = strip_x(truth), strip_x(found)
    order = np.argsort(truth_x)
    reach = limit_m + 1e-6 + 8 * np.spacing(found_x.max(initial=0.0))
    begin, end = (np.searchsorted(truth_x[order], found_x + step) for step in (-reach, reach))
    prediction = np.repeat(np.arange(len(found)), end - begin)
    box = order[np.repeat(begin, end - begin) + ranks_within(prediction)]
    distance = planar_norm(found.centre_m[prediction, :2] - truth.centre_m[box, :2])
    near = distance < limit_m
    prediction, box, distance = prediction[near], box[near], distance[near]
    order = np.lexsort((box, distance, prediction))
    return prediction[order], box[order], distance[order]


def _assign(prediction: IntArray, box: IntArray, distance: FloatArray, *, limits: FloatArray, count: int) -> IntArray:
    """Return (thresholds, count) the box of each prediction, or ``NOTHING``; predictions are in order of precedence."""
    boxes = int(box.max(initial=-1)) + 1
    threshold, pair = np.nonzero(distance < limits[:, None])
    proposer, box = threshold * count + prediction[pair], threshold * boxes + box[pair]
    proposers, choice, choice_counts = np.unique(proposer, return_index=True, return_counts=True)
    end = choice + choice_counts
    holder = np.full(len(limits) * boxes, len(proposers))
    active = np.arange(len(proposers))
    while len(active):
        target = box[choice[active]]
        before = holder[target]
        np.minimum.at(holder, target, active)
        after = holder[target]
        rejected = np.unique(np.r_[active[after != active], before[(after != before) & (before < len(proposers))]])
        choice[rejected] += 1
        active = rejected[choice[rejected] < end[rejected]]
    taken = np.full(len(limits) * count, NOTHING, dtype=np.int64)
    taken_boxes = np.flatnonzero(holder < len(proposers))
    taken[proposers[holder[taken_boxes]]] = taken_boxes % max(boxes, 1)
    return taken.reshape(len(limits), count)
