"""Overlaps and the swarm's matches in blocks are those at once."""

from __future__ import annotations

import numpy as np

from evaluate.overlap_cases import turned_cases
from uavsim_benchmarks.evaluate.coperception import (
    OverlapMatches,
    match_by_overlap,
)
from uavsim_benchmarks.evaluate.swarm.scores import SwarmCounter, match_swarm


def test_overlaps_and_the_swarms_matches_in_blocks() -> None:
    for truth, found in turned_cases(20, seed=3):
        samples = int(max(truth.sample.max(), found.sample.max(initial=0))) + 1
        blocks = [found.take(found.sample == sample) for sample in reversed(range(samples))]
        whole = match_by_overlap(truth, found)
        parts = [match_by_overlap(truth.take(truth.rows_of(np.unique(b.sample))), b) for b in blocks]
        joined = OverlapMatches.concat(parts, truth_count=len(truth))
        np.testing.assert_array_equal(joined.matched, whole.matched)
        np.testing.assert_array_equal(joined.score, whole.score)
        scene = np.zeros(samples, np.int64)
        counter = SwarmCounter(truth, scene)
        for block in blocks:
            counter.add(block)
        ours, at_once = counter.matched(np.ones(samples, bool)), match_swarm(truth, found, scene)
        np.testing.assert_array_equal(ours.found, at_once.found)
        np.testing.assert_array_equal(ours.took, at_once.took)
