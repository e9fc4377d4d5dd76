"""Recall and AP of a swarm's detector by groups of boxes, with bootstrap intervals.

A box is found when the devkit's greedy matching gives it a prediction of its class within 2 m on the ground. For the AP of a
group, predictions matched to its boxes are hits, predictions matched to other groups are left out, and unmatched predictions
count against every group that they could belong to.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim_benchmarks.evaluate.bootstrap import Interval, interval_of
from uavsim_benchmarks.evaluate.boxes import NOTHING, Boxes
from uavsim_benchmarks.evaluate.matching import match_by_centre
from uavsim_benchmarks.evaluate.nuscenes.detection import average_precision, class_curves
from uavsim_benchmarks.evaluate.ranges import range_on_ground

__all__ = [
    "FOUND_WITHIN_M",
    "GroupScore",
    "Matched",
    "SwarmCounter",
    "bins_of",
    "group_ap",
    "group_recall",
    "match_swarm",
    "score_group",
]

FOUND_WITHIN_M: Final = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Matches of one result.

    Args:
        found: (N,) bool: the ground-truth box has a match.
        scene: (N,) scene of each box.
        score: (P,) scores of predictions, descending.
        took: (P,) row of the matched box or ``NOTHING``.
        found_scene: (P,) scene of each prediction.
        found_range_m: (P,) distance of each prediction from the ego; NaN where unknown.
    """

    found: BoolArray
    scene: IntArray
    score: FloatArray
    took: IntArray
    found_scene: IntArray
    found_range_m: FloatArray


@dataclass(frozen=True, slots=True)
class GroupScore:
    """Recall and AP of one group of boxes."""

    boxes: int
    found: int
    recall: Interval
    ap: Interval

    def as_json(self) -> dict[str, object]:
        """Return a dictionary for JSON."""
        return {"boxes": self.boxes, "found": self.found, "recall": self.recall.as_json(), "ap": self.ap.as_json()}


class SwarmCounter:
    """Accumulates matches of blocks of samples over all classes, in 32 bytes a prediction.

    Args:
        truth: boxes that a drone sees.
        scene: (S,) scene of each sample.
        min_score: predictions below are left out.
        ego_m: (S, 3) origin of ranges; None leaves ranges NaN.
    """

    def __init__(
        self, truth: Boxes, scene: IntArray, *, min_score: float = 0.0, ego_m: FloatArray | None = None
    ) -> None:
        self.truth, self.scene, self.min_score, self.ego_m = truth, scene, min_score, ego_m
        self._found = np.zeros(len(truth), bool)
        self._parts: list[tuple[FloatArray, FloatArray, IntArray, IntArray]] = []

    def add(self, found: Boxes) -> None:
        """Match the predictions of complete samples, each once."""
        found = found.take(found.score >= self.min_score)
        rows = self.truth.rows_of(np.unique(found.sample))
        (matches,) = match_by_centre(self.truth.take(rows), found, (FOUND_WITHIN_M,))
        hit = matches != NOTHING
        took = np.full(len(found), NOTHING, dtype=np.int64)
        took[hit] = rows[matches[hit]]
        self._found[took[hit]] = True
        away_m = np.full(len(found), np.nan) if self.ego_m is None else range_on_ground(found, self.ego_m)
        self._parts.append((found.score, away_m, found.sample, took))

    def matched(self, scored: BoolArray) -> Matched:
        """Return all matches; ``scored`` is the (S,) mask of samples with counted boxes."""
        parts = self._parts or [(np.zeros(0), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))]
        score, away_m = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        sample, took = (np.concatenate([part[k] for part in parts]) for k in (2, 3))
        by_sample = np.argsort(sample, kind="stable")
        order = by_sample[np.lexsort((np.arange(len(score)), score[by_sample]))[::-1]]
        counted = scored[self.truth.sample]
        number = np.where(counted, np.cumsum(counted) - 1, NOTHING)
        took = np.where(took == NOTHING, NOTHING, number[took]) if len(number) else took
        scene = self.scene[self.truth.sample[counted]]
        return Matched(self._found[counted], scene, score[order], took[order], self.scene[sample[order]], away_m[order])


def match_swarm(truth: Boxes, found: Boxes, scene: IntArray, *, min_score: float = 0.0) -> Matched:
    """Match predictions in memory; ``scene`` is the (samples,) scene of each sample; see ``SwarmCounter``."""
    counter = SwarmCounter(truth, scene, min_score=min_score)
    counter.add(found)
    return counter.matched(np.ones(len(scene), bool))


def bins_of(value: FloatArray, edges: tuple[float, ...]) -> tuple[IntArray, list[str]]:
    """Return (N,) bins of (N,) values, ``NOTHING`` for NaN, and the names of the bins; the last bin is open."""
    names = [f"{low:g}-{high:g}" for low, high in pairwise(edges)] + [f"{edges[-1]:g}+"]
    bins = np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(names) - 1)
    return np.where(np.isnan(value), NOTHING, bins), names


def group_recall(matched: Matched, member: BoolArray, weight: FloatArray) -> FloatArray:
    """Return the recall of a group for each bootstrap draw of scenes.

    Args:
        matched: N boxes.
        member: (N,) boxes of the group.
        weight: (draws, scenes) count of each scene.

    Returns:
        (draws,) recalls; NaN without a drawn box of the group.
    """
    scenes = weight.shape[1]
    boxes = np.bincount(matched.scene[member], minlength=scenes)
    found = np.bincount(matched.scene[member & matched.found], minlength=scenes)
    total = weight @ boxes
    recall: FloatArray = np.divide(weight @ found, total, out=np.full(len(weight), np.nan), where=total > 0)
    return recall


def group_ap(matched: Matched, member: BoolArray, candidate: BoolArray, weight: FloatArray) -> FloatArray:
    """Return (draws,) AP of a group at 2 m, by nuScenes' definition, for each bootstrap draw of scenes.

    Args:
        matched: P predictions by descending score.
        member: (N,) boxes of the group.
        candidate: (P,) predictions that count against the group when unmatched.
        weight: (draws, scenes) how often each scene counts.
    """
    took = matched.took
    hit = (took != NOTHING) & member[np.maximum(took, 0)] if len(member) else np.zeros(len(took), bool)
    counted = hit | ((took == NOTHING) & candidate)
    scene, hits, score = matched.found_scene[counted], hit[counted], matched.score[counted]
    boxes = np.bincount(matched.scene[member], minlength=weight.shape[1])
    values = np.full(len(weight), np.nan)
    for draw, weights in enumerate(weight):
        total = float(weights @ boxes)
        if total:
            values[draw] = _weighted_ap(hits, score, weights[scene], total)
    return values


def _weighted_ap(hits: BoolArray, score: FloatArray, weight: FloatArray, total: float) -> float:
    if np.all(weight == 1):
        precision = class_curves(score, hits, int(total)).precision
    else:
        found = np.cumsum(np.where(hits, weight, 0.0))
        if not len(found) or not found[-1]:
            return 0.0
        counted = np.cumsum(weight)
        ratio = np.divide(found, counted, out=np.ones_like(found), where=counted > 0)
        precision = np.interp(np.linspace(0, 1, 101), found / total, ratio, right=0)
    return average_precision(precision, min_recall=0.1, min_precision=0.1)


def score_group(matched: Matched, member: BoolArray, candidate: BoolArray, draws: FloatArray) -> GroupScore:
    """Return recall and AP of a group with their intervals.

    Args:
        matched: N boxes, P predictions.
        member: (N,) boxes of the group.
        candidate: (P,) predictions that may be of the group.
        draws: (draws, scenes) how often each scene counts.
    """
    equal = np.ones((1, draws.shape[1]))
    recall = interval_of(float(group_recall(matched, member, equal)[0]), group_recall(matched, member, draws))
    ap = interval_of(float(group_ap(matched, member, candidate, equal)[0]), group_ap(matched, member, candidate, draws))
    return GroupScore(int(member.sum()), int((member & matched.found).sum()), recall, ap)
