"""Greedy matching against a sequential loop, on random boxes with equal scores and distances."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.test_ranges import boxes
from uavsim_benchmarks.evaluate import matching
from uavsim_benchmarks.evaluate.boxes import NOTHING, Boxes
from uavsim_benchmarks.evaluate.matching import by_descending_score, match_by_centre

THRESHOLDS_M = (0.5, 1.0, 4.0)


def random_boxes(rng: np.random.Generator, count: int) -> Boxes:
    made = boxes(*np.round(rng.uniform(0, 6, (count, 3)), 1))
    return replace(
        made,
        sample=np.sort(rng.integers(0, 5, count)),
        label=rng.integers(0, 2, count),
        score=rng.choice([0.1, 0.5, 0.9], count),
    )


def one_by_one(truth: Boxes, found: Boxes, limit_m: float) -> list[int]:
    """Match by the devkit's loop: of equal scores the later prediction first, of equal distances the earlier box."""
    taken: set[int] = set()
    matched = [NOTHING] * len(found)
    for sample in np.unique(found.sample):
        rows = np.flatnonzero(found.sample == sample)
        for row in sorted(rows.tolist(), key=lambda k: (-found.score[k], -k)):
            free = [
                (float(np.linalg.norm(truth.centre_m[k, :2] - found.centre_m[row, :2])), k)
                for k in np.flatnonzero((truth.sample == sample) & (truth.label == found.label[row])).tolist()
                if k not in taken
            ]
            if free and min(free)[0] < limit_m:
                matched[row] = min(free)[1]
                taken.add(matched[row])
    return matched


@pytest.mark.parametrize("cells", [1, 300, 4_000_000])
def test_matches_are_those_of_the_walk(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_CELLS_PER_BLOCK", cells)
    rng = np.random.default_rng(5)
    for _ in range(20):
        truth, found = random_boxes(rng, int(rng.integers(0, 40))), random_boxes(rng, int(rng.integers(0, 40)))
        got = match_by_centre(truth, found, THRESHOLDS_M)
        assert got.tolist() == [one_by_one(truth, found, limit_m) for limit_m in THRESHOLDS_M]


def test_of_equal_scores_the_later_comes_first() -> None:
    found = replace(boxes((0, 0, 0), (1, 0, 0), (2, 0, 0)), score=np.array([0.5, 0.9, 0.5]))
    assert by_descending_score(found).tolist() == [1, 2, 0]
