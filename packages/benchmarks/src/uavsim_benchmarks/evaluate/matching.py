"""Greedy matching by centre distance, as nuScenes does it, for many samples and thresholds at once.

The devkit walks predictions by descending score and gives each the nearest free box of its class. Samples do not touch
each other, so the walk goes through all samples of a block in step: the best predictions of all of them, then the second
best, and so on. Each step is one ``argmin`` over (thresholds, samples, boxes).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray
from uavsim_benchmarks.evaluate.boxes import NOTHING, Boxes, ranks_within

__all__ = ["by_descending_score", "match_by_centre", "planar_norm"]

_CELLS_PER_BLOCK: Final = 4_000_000  # samples x predictions x boxes whose distances are held at once: 32 MB
_ROUNDING_M: Final = 1e-6


def planar_norm(vector: FloatArray) -> FloatArray:
    """Return the length of each (..., 2) vector, rounded as ``np.linalg.norm`` rounds that of one.

    Both end in the same BLAS dot product, which may fuse the multiplication into the addition; ``sqrt(x*x + y*y)`` differs
    from it in the last bit of one pair in ten.
    """
    contiguous = np.ascontiguousarray(vector)
    norm: FloatArray = np.sqrt(np.vecdot(contiguous, contiguous))
    return norm


def by_descending_score(found: Boxes) -> IntArray:
    """Return (P,) rows sorted by sample, then by descending score; of equal scores the later comes first, as in the devkit."""
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
        _match_block(truth, found, rows, truth_rows, limits=limits, matched=matched)
    return matched


def _blocks(truth: Boxes, found: Boxes) -> Iterator[tuple[slice, slice]]:
    """Yield ranges of rows of predictions and ground truth that hold whole samples, a bounded number of cells each."""
    samples = np.unique(found.sample)
    counts = np.diff(np.searchsorted(found.sample, np.r_[samples, samples[-1] + 1]))
    truth_counts = np.searchsorted(truth.sample, samples, side="right") - np.searchsorted(truth.sample, samples)
    begin = 0
    while begin < len(samples):
        widest = np.maximum.accumulate(counts[begin : begin + 4096])
        widest_truth = np.maximum.accumulate(truth_counts[begin : begin + 4096])
        cells = np.arange(1, len(widest) + 1) * widest * np.maximum(widest_truth, 1)
        end = begin + max(1, int(np.searchsorted(cells, _CELLS_PER_BLOCK, side="right")))
        first, last = samples[begin], samples[end - 1] + 1
        yield (
            slice(*np.searchsorted(found.sample, [first, last]).tolist()),
            slice(*np.searchsorted(truth.sample, [first, last]).tolist()),
        )
        begin = end


def _match_block(
    truth: Boxes, found: Boxes, rows: slice, truth_rows: slice, *, limits: FloatArray, matched: IntArray
) -> None:
    own, boxes = found.take(rows), truth.take(truth_rows)
    samples, slot = np.unique(own.sample, return_inverse=True)
    columns = np.flatnonzero(np.isin(boxes.sample, samples))
    if not len(columns):
        return
    order = by_descending_score(own)
    table = _table(slot[order], order, len(samples))
    truth_table = _table(np.searchsorted(samples, boxes.sample[columns]), columns, len(samples))
    table, distance = _candidates(own, boxes, table, truth_table, limit_m=float(limits.max()))
    taken = _walk(distance, limits)
    hit = np.nonzero(taken != NOTHING)
    of_truth = truth_table[hit[1], taken[hit]]
    matched[hit[0], rows.start + table[hit[1], hit[2]]] = truth_rows.start + of_truth


def _table(slot: IntArray, rows: IntArray, count: int) -> IntArray:
    """Return (samples, longest) row numbers, ``NOTHING`` where a sample has fewer; ``slot`` ascends."""
    ranks = ranks_within(slot)
    table = np.full((count, int(ranks.max()) + 1 if len(ranks) else 0), NOTHING, dtype=np.int64)
    table[slot, ranks] = rows
    return table


def _candidates(
    own: Boxes, boxes: Boxes, table: IntArray, truth_table: IntArray, *, limit_m: float
) -> tuple[IntArray, FloatArray]:
    """Return the table without predictions that are near no box of their class, and distances, infinite where not near.

    Returns:
        (samples, predictions) rows of ``own``; (samples, predictions, boxes) distances on the ground.
    """
    square, other = (
        own.centre_m[table, k][:, :, None] - boxes.centre_m[truth_table, k][:, None, :] for k in range(2)
    )  # millions of cells: nothing is allocated for a step in between
    square *= square
    other *= other
    square += other
    near = square < (limit_m + _ROUNDING_M) ** 2
    ours = np.where(table == NOTHING, -1, own.label[table])
    theirs = np.where(truth_table == NOTHING, -2, boxes.label[truth_table])
    near &= ours[:, :, None] == theirs[:, None, :]
    is_near = near.any(axis=2)
    first = np.argsort(~is_near, axis=1, kind="stable")
    longest = int(is_near.sum(axis=1).max())
    first = first[:, :longest]
    table = np.take_along_axis(table, first, axis=1)
    sample, rank, column = np.nonzero(np.take_along_axis(near, first[:, :, None], axis=1))
    offset = own.centre_m[table[sample, rank], :2] - boxes.centre_m[truth_table[sample, column], :2]
    distance = np.full((len(table), longest, truth_table.shape[1]), np.inf)
    distance[sample, rank, column] = planar_norm(offset)
    return table, distance


def _walk(distance: FloatArray, limits: FloatArray) -> IntArray:
    """Return (thresholds, samples, predictions) the column that each takes, predictions in order of rank."""
    samples, ranks, columns = distance.shape
    taken = np.full((len(limits), samples, ranks), NOTHING, dtype=np.int64)
    occupied = np.zeros((len(limits), samples, columns))
    for rank in range(ranks):
        cost = distance[None, :, rank, :] + occupied
        column = cost.argmin(axis=2)
        hit = np.take_along_axis(cost, column[:, :, None], axis=2)[:, :, 0] < limits[:, None]
        threshold, sample = np.nonzero(hit)
        taken[threshold, sample, rank] = column[hit]
        occupied[threshold, sample, column[hit]] = np.inf
    return taken
