"""nuScenes detection on hand-written boxes."""

import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.boxes import NOTHING, Boxes
from uavsim_benchmarks.evaluate.matching import match_by_centre
from uavsim_benchmarks.evaluate.nuscenes.detection import (
    CLASSES,
    nuscenes_detection_score,
    pair_errors,
    score_detections,
)

CAR = CLASSES.index("car")


def cars(xs_m: list[float], *, sample: int | list[int] = 0, label: int | list[int] = CAR, **columns) -> Boxes:
    count = len(xs_m)
    centre = np.column_stack([xs_m, np.zeros(count), np.zeros(count)])
    return Boxes.make(np.broadcast_to(sample, count), np.broadcast_to(label, count), centre, **columns)


def test_a_box_at_the_threshold_is_no_match() -> None:
    matched = match_by_centre(cars([0.0]), cars([2.0], score=np.array([0.5])), (2.0, 4.0))
    assert matched.tolist() == [[NOTHING], [0]]


def test_a_perfect_result_has_ap_one_in_its_class_and_a_tenth_over_all() -> None:
    truth = cars([0.0, 10.0, 20.0])
    scores = score_detections(truth, cars([0.0, 10.0, 20.0], score=np.array([0.9, 0.8, 0.7])))
    assert scores.aps["car"] == pytest.approx({0.5: 1.0, 1.0: 1.0, 2.0: 1.0, 4.0: 1.0})
    assert scores.mean_ap == pytest.approx(0.1)
    corrected = score_detections(truth, cars([0.0, 10.0, 20.0], score=np.array([0.9, 0.8, 0.7])), mode="corrected")
    assert corrected.mean_ap == pytest.approx(1.0)
    assert corrected.mean_tp_errors["trans_err"] == 0.0


def test_nothing_found_and_nothing_there() -> None:
    assert score_detections(cars([0.0]), Boxes.none()).mean_ap == 0.0
    empty = score_detections(Boxes.none(), cars([0.0], score=np.array([0.5])))
    assert (empty.mean_ap, empty.tp_errors["car"]["trans_err"]) == (0.0, 1.0)


def test_errors_of_one_pair() -> None:
    truth = cars([0.0], size_m=np.array([[2.0, 4.0, 2.0]]), yaw_rad=np.array([3.0]), attribute=np.array([6]))
    found = cars([0.3], size_m=np.full((1, 3), 2.0), yaw_rad=np.array([-3.0]), velocity_mps=np.array([[3.0, 4.0]]))
    errors = pair_errors(truth, found, half_turn=np.array([False]))[:, 0]
    np.testing.assert_allclose(errors, [0.3, 0.5, 2 * np.pi - 6, 5.0, 1.0])


def test_a_barrier_may_be_turned_by_half_a_turn() -> None:
    pair = cars([0.0], yaw_rad=np.array([0.1])), cars([0.0], yaw_rad=np.array([0.1 + np.pi]))
    assert pair_errors(*pair, half_turn=np.array([True]))[2, 0] == pytest.approx(0.0, abs=1e-12)


def test_a_matched_box_without_volume_ends_the_devkit_and_is_a_wrong_size_when_corrected() -> None:
    flat = np.array([[0.0, 4.0, 2.0]])
    with pytest.raises(InputError, match="has no volume"):
        score_detections(cars([0.0], size_m=flat), cars([0.0], score=np.array([0.5])))
    corrected = score_detections(cars([0.0], size_m=flat), cars([0.0], score=np.array([0.5])), mode="corrected")
    assert corrected.tp_errors["car"]["scale_err"] == 1.0


def test_nds_of_tenths_and_of_eighths() -> None:
    assert nuscenes_detection_score(0.5, [0.5, 0.5, 2.0, 0.0, 1.0]) == pytest.approx((2.5 + 0.5 + 0.5 + 0 + 1 + 0) / 10)
    assert nuscenes_detection_score(0.5, [0.5, 0.5, 2.0]) == pytest.approx(3.5 / 8)
