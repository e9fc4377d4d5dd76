"""Overlap from above, and the scores that UAV3D and Where2comm make of it."""

from __future__ import annotations

import numpy as np
import pytest

from uavsim.evaluate.bev_iou import aligned_iou, corners_of, turned_iou
from uavsim.evaluate.boxes import Boxes
from uavsim.evaluate.coperception import communication_rate, communication_volume, match_by_overlap, voc_ap
from uavsim.evaluate.uav3d import IouCounter, claim_best_box, eleven_point_ap, in_uav3d_square, uav3d_nds


def box(x: float, y: float, width: float, length: float, yaw: float = 0.0) -> np.ndarray:
    return corners_of(np.array([[x, y, 0.0]]), np.array([[width, length, 1.0]]), np.array([yaw]))


def test_boxes_along_the_axes() -> None:
    ours = np.array([[0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    theirs = np.array([[1.0, 0.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]])
    np.testing.assert_allclose(aligned_iou(ours, theirs), [[1 / 3, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("other", "iou"),
    [
        (box(0, 0, 2, 2), 1.0),
        (box(0, 0, 2, 2, np.pi / 2), 1.0),
        (box(1, 0, 2, 2), 1 / 3),
        (box(0, 0, 1, 1), 0.25),
        (
            box(0, 0, 2, 2, np.pi / 4),
            (8 * (np.sqrt(2) - 1)) / (8 - 8 * (np.sqrt(2) - 1)),
        ),  # the common part is an octagon
        (box(2, 0, 2, 2), 0.0),
        (box(9, 9, 2, 2, 0.3), 0.0),
        (box(0, 0, 0, 2), 0.0),
    ],
)
@pytest.mark.parametrize("far", [0.0, 5_000.0])
def test_turned_boxes(other: np.ndarray, iou: float, far: float) -> None:
    (value,) = turned_iou(box(0, 0, 2, 2) + far, other + far).ravel()
    assert value == pytest.approx(iou, abs=1e-9)


def test_a_turned_overlap_agrees_with_counted_points() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = box(0, 0, 3, 5, 0.4), box(0.7, -0.5, 2, 6, 1.9)
    points = rng.uniform(-6, 6, (200_000, 2))

    def inside(corners: np.ndarray) -> np.ndarray:
        edge = np.roll(corners, -1, axis=0) - corners
        offset = points[:, None] - corners
        return (edge[:, 0] * offset[..., 1] - edge[:, 1] * offset[..., 0] >= 0).all(axis=1)

    a, b = inside(ours[0]), inside(theirs[0])
    assert turned_iou(ours, theirs)[0, 0] == pytest.approx((a & b).sum() / (a | b).sum(), abs=0.01)


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
