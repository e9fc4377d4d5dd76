"""nuScenes detection on boxes written down by hand."""

import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.boxes import NOTHING, Boxes, ranks_within, yaw_of_quat
from uavsim_benchmarks.evaluate.matching import match_by_centre
from uavsim_benchmarks.evaluate.nuscenes.detection import (
    CLASSES,
    nuscenes_detection_score,
    pair_errors,
    score_detections,
)
from uavsim_benchmarks.evaluate.ranges import in_racks, keep_evaluated

CAR, BUS = CLASSES.index("car"), CLASSES.index("bus")


def at(places: list[float], *, sample: int | list[int] = 0, label: int | list[int] = CAR, **columns) -> Boxes:
    count = len(places)
    centre = np.column_stack([places, np.zeros(count), np.zeros(count)])
    return Boxes.make(np.broadcast_to(sample, count), np.broadcast_to(label, count), centre, **columns)


def test_the_best_score_takes_the_nearest_free_box_of_its_class() -> None:
    truth = at([0.0, 1.0, 1.1], label=[CAR, CAR, BUS])
    found = at([0.9, 0.8, 1.1], label=[CAR, CAR, BUS], score=np.array([0.5, 0.9, 0.7]))
    (matched,) = match_by_centre(truth, found, (2.0,))
    assert matched.tolist() == [0, 1, 2]  # 0.9 takes the car at 1, so 0.5 is left with the one at 0


def test_of_equal_scores_the_later_one_goes_first_as_in_the_devkit() -> None:
    found = at([0.4, 0.1], score=np.array([0.5, 0.5]))
    (matched,) = match_by_centre(at([0.0]), found, (2.0,))
    assert matched.tolist() == [NOTHING, 0]


def test_a_box_at_the_threshold_is_no_match() -> None:
    matched = match_by_centre(at([0.0]), at([2.0], score=np.array([0.5])), (2.0, 4.0))
    assert matched.tolist() == [[NOTHING], [0]]


def test_samples_do_not_touch_each_other_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    truth = at(rng.uniform(0, 9, 200).tolist(), sample=np.repeat(np.arange(20), 10).tolist())
    found = at(rng.uniform(0, 9, 300).tolist(), sample=np.repeat(np.arange(20), 15).tolist(), score=rng.random(300))
    whole = match_by_centre(truth, found, (0.5, 1.0))
    monkeypatch.setattr("uavsim_benchmarks.evaluate.matching._CELLS_PER_BLOCK", 400)
    np.testing.assert_array_equal(match_by_centre(truth, found, (0.5, 1.0)), whole)
    hits = whole[1] != NOTHING
    np.testing.assert_array_equal(truth.sample[whole[1][hits]], found.sample[hits])


def test_a_perfect_result_has_ap_one_in_its_class_and_a_tenth_over_all() -> None:
    truth = at([0.0, 10.0, 20.0])
    scores = score_detections(truth, at([0.0, 10.0, 20.0], score=np.array([0.9, 0.8, 0.7])))
    assert scores.aps["car"] == pytest.approx({0.5: 1.0, 1.0: 1.0, 2.0: 1.0, 4.0: 1.0})
    assert scores.mean_ap == pytest.approx(0.1)
    corrected = score_detections(truth, at([0.0, 10.0, 20.0], score=np.array([0.9, 0.8, 0.7])), mode="corrected")
    assert corrected.mean_ap == pytest.approx(1.0)
    assert corrected.mean_tp_errors["trans_err"] == 0.0


def test_nothing_found_and_nothing_there() -> None:
    assert score_detections(at([0.0]), Boxes.none()).mean_ap == 0.0
    empty = score_detections(Boxes.none(), at([0.0], score=np.array([0.5])))
    assert (empty.mean_ap, empty.tp_errors["car"]["trans_err"]) == (0.0, 1.0)


def test_errors_of_one_pair() -> None:
    truth = at([0.0], size_m=np.array([[2.0, 4.0, 2.0]]), yaw_rad=np.array([3.0]), attribute=np.array([6]))
    found = at([0.3], size_m=np.array([[2.0, 2.0, 2.0]]), yaw_rad=np.array([-3.0]), velocity_mps=np.array([[3.0, 4.0]]))
    errors = pair_errors(truth, found, half_turn=np.array([False]))[:, 0]
    np.testing.assert_allclose(errors, [0.3, 0.5, 2 * np.pi - 6, 5.0, 1.0])


def test_a_barrier_may_be_turned_by_half_a_turn() -> None:
    pair = at([0.0], yaw_rad=np.array([0.1])), at([0.0], yaw_rad=np.array([0.1 + np.pi]))
    assert pair_errors(*pair, half_turn=np.array([True]))[2, 0] == pytest.approx(0.0, abs=1e-12)


def test_a_matched_box_without_volume_ends_the_devkit_and_is_a_wrong_size_when_corrected() -> None:
    flat = np.array([[0.0, 4.0, 2.0]])
    with pytest.raises(InputError, match="size that is not above 0"):
        score_detections(at([0.0], size_m=flat), at([0.0], score=np.array([0.5])))
    corrected = score_detections(at([0.0], size_m=flat), at([0.0], score=np.array([0.5])), mode="corrected")
    assert corrected.tp_errors["car"]["scale_err"] == 1.0


def test_nds_of_tenths_and_of_eighths() -> None:
    assert nuscenes_detection_score(0.5, [0.5, 0.5, 2.0, 0.0, 1.0]) == pytest.approx((2.5 + 0.5 + 0.5 + 0 + 1 + 0) / 10)
    assert nuscenes_detection_score(0.5, [0.5, 0.5, 2.0]) == pytest.approx(3.5 / 8)


def test_boxes_out_of_range_unseen_or_in_a_rack_are_left_out() -> None:
    boxes = at([0.0, 60.0, 5.0, 5.0], label=[CAR, CAR, CAR, 7], counted=np.array([True, True, False, True]))
    racks = at([5.0], size_m=np.array([[2.0, 2.0, 2.0]]), yaw_rad=np.array([0.7]))
    limits = np.full(len(CLASSES), 50.0)
    kept = keep_evaluated(boxes, np.zeros((1, 3)), limits, racks=racks, two_wheelers=np.array([6, 7]))
    assert kept.centre_m[:, 0].tolist() == [0.0]
    assert in_racks(boxes, racks).tolist() == [False, False, True, True]


def test_headings_and_ranks() -> None:
    quarter = np.sqrt(0.5)
    np.testing.assert_allclose(yaw_of_quat(np.array([[quarter, 0, 0, quarter], [2.0, 0, 0, 2.0]])), [np.pi / 2] * 2)
    assert ranks_within(np.array([4, 4, 7, 7, 7])).tolist() == [0, 1, 0, 1, 2]


def test_boxes_refuse_uneven_columns_and_unsorted_samples() -> None:
    with pytest.raises(InputError, match="no column 'speed'"):
        at([0.0], speed=np.zeros(1))
    boxes = at([0.0, 1.0], sample=[1, 0])
    assert boxes.sample.tolist() == [0, 1]
    with pytest.raises(InputError, match="ascending"):
        boxes.take(np.array([1, 0]))
