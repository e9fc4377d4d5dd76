"""UAV3D's scores of overlaps."""

import numpy as np
import pytest

from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.uav3d import IouCounter, claim_best_box, eleven_point_ap, in_uav3d_square, uav3d_nds


def test_uav3d_gives_no_second_choice() -> None:
    iou = np.array([[0.9, 0.0], [0.8, 0.6]])
    assert claim_best_box(iou, np.array([0, 1]), 0.5).tolist() == [True, False]


def test_eleven_points() -> None:
    assert eleven_point_ap(np.array([True]), 2) == pytest.approx(6 / 11)
    assert eleven_point_ap(np.zeros(0, bool), 3) == 0.0
    assert eleven_point_ap(np.array([True]), 0) == 0.0
    three_of_ten = np.array([True, True, True])
    assert eleven_point_ap(three_of_ten, 10) == pytest.approx(3 / 11)  # 0.3 is below its step of 0.30000000000000004
    assert eleven_point_ap(three_of_ten, 10, mode="corrected") == pytest.approx(4 / 11)


def test_a_sample_without_truth_makes_every_detection_false() -> None:
    counter = IouCounter()
    counter.add(Boxes.none(), Boxes.make(np.zeros(1), np.zeros(1), np.zeros((1, 3)), score=np.array([0.5])))
    assert counter.scores() == {"ap_0.5": 0.0, "ap_0.7": 0.0}


def test_uav3ds_square_and_score() -> None:
    centre = np.array([[102.0, 0, 0], [102.5, 0, 0], [0, 0, 10.5], [0, 0, 0]])
    boxes = Boxes.make(np.zeros(4), np.zeros(4), centre, counted=np.array([True, True, True, False]))
    assert in_uav3d_square(boxes, np.zeros((1, 3))).tolist() == [True, False, False, False]
    assert uav3d_nds(0.5, 0.5, 0.5, 3.0) == pytest.approx(3.5 / 8)
