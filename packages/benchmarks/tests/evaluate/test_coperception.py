"""Where2comm's counts of overlaps."""

import numpy as np
import pytest

from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.coperception import communication_rate, communication_volume, match_by_overlap, voc_ap


def test_where2comm_counts() -> None:
    assert voc_ap(np.array([True, False, True]), 2) == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert voc_ap(np.zeros(0, bool), 2) == 0.0
    truth = Boxes.make(np.zeros(2), np.zeros(2), np.array([[0.0, 0, 0], [0.5, 0, 0]]), size_m=np.full((2, 3), 4.0))
    found = Boxes.make(
        np.zeros(2),
        np.zeros(2),
        np.array([[0.0, 0, 0], [0.1, 0, 0]]),
        size_m=np.full((2, 3), 4.0),
        score=np.array([0.9, 0.8]),
    )
    assert match_by_overlap(truth, found).matched[2].tolist() == [True, True]  # the second takes the box that is left
    confidence = np.array([[[0.9, 0.1]], [[0.9, 0.9]]])
    assert communication_rate(confidence, 0.5) == 0.5
    assert communication_rate(confidence, 0.5, mode="corrected") == 1.0
    assert communication_volume(0.5, 4, 4, 8) == pytest.approx(8.0)
    assert communication_volume(0.0, 4, 4, 8) == -np.inf
