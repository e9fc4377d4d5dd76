"""Boxes excluded from evaluation: too far, unseen, or two-wheelers in a rack."""

import numpy as np

from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.ranges import in_racks, keep_evaluated, range_on_ground

CAR, BICYCLE = 0, 1


def boxes(*places, label=CAR, size=(2.0, 4.0, 1.5), yaw=0.0, sample=None, counted=True) -> Boxes:
    count = len(places)
    return Boxes(
        sample=np.zeros(count, int) if sample is None else np.array(sample),
        label=np.full(count, label),
        centre_m=np.array(places, float).reshape(-1, 3),
        size_m=np.tile(size, (count, 1)).astype(float),
        yaw_rad=np.full(count, yaw),
        velocity_mps=np.zeros((count, 2)),
        score=np.full(count, -1.0),
        attribute=np.full(count, -1),
        track=np.full(count, -1),
        counted=np.full(count, counted),
    )


def test_distance_is_on_the_ground_from_the_ego_of_the_boxs_sample() -> None:
    ego_m = np.array([[0.0, 0.0, 0.0], [100.0, 0.0, 0.0]])
    found = range_on_ground(boxes((3, 4, 50), (103, 4, -50), sample=(0, 1)), ego_m)
    np.testing.assert_allclose(found, [5.0, 5.0])


def test_a_box_at_its_range_is_left_out_and_so_is_one_that_no_sensor_saw() -> None:
    ego_m, range_m = np.zeros((1, 3)), np.array([50.0, 40.0])
    none = np.array([BICYCLE])
    evaluated = keep_evaluated(boxes((49.9, 0, 0), (50.0, 0, 0)), ego_m, range_m, two_wheelers=none)
    assert evaluated.centre_m[:, 0].tolist() == [49.9]
    assert len(keep_evaluated(boxes((1, 0, 0), counted=False), ego_m, range_m, two_wheelers=none)) == 0


def test_a_turned_rack_holds_what_stands_in_it() -> None:
    rack = boxes((10, 0, 0), size=(2.0, 6.0, 2.0), yaw=np.pi / 2)  # six metres along y, two along x
    inside, beside = (10.0, 2.9, 0.9), (12.0, 0.0, 0.0)
    assert in_racks(boxes(inside, beside, label=BICYCLE), rack).tolist() == [True, False]
    other_sample = boxes((10, 0, 0), sample=(1,), label=BICYCLE)
    assert in_racks(other_sample, rack).tolist() == [False]


def test_cars_in_a_rack_are_kept() -> None:
    rack, ego_m, range_m = boxes((10, 0, 0)), np.zeros((1, 3)), np.array([50.0, 50.0])
    for label, left in ((CAR, 1), (BICYCLE, 0)):
        found = boxes((10, 0, 0), label=label)
        assert len(keep_evaluated(found, ego_m, range_m, racks=rack, two_wheelers=np.array([BICYCLE]))) == left
