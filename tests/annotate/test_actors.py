"""Implausible boxes of the simulator, and their replacements."""

from typing import Any

import numpy as np
import pytest

from uavsim.annotate.actors import size_of
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.actors import believable
from uavsim.records.classes import class_of_label
from uavsim.records.recording import ActorInfo

CAR = (2.4, 1.0, 0.75)


def actor(half_m, centre_m=(0.0, 0.0, 0.75), **changes):
    values: dict[str, Any] = {
        "instance_id": 1,
        "simulator_actor_id": 7,
        "blueprint": "vehicle.example.unknown",
        "base_type": "car",
        "kind": "vehicle",
        "attributes": {},
        "actor_SE3_box": SE3(quaternion.IDENTITY, np.array(centre_m)),
        "half_extent_m": half_m,
        "semantic_tag": 14,
    }
    return ActorInfo(**(values | changes))


@pytest.mark.parametrize(
    ("half_m", "centre_m"),
    [
        ((0.0, 0.0, 0.0), (0, 0, 0)),
        ((0.8, 0.0, 0.8), (0, 0, 0.8)),
        ((2.4, 1.0, 0.05), (0, 0, 0)),  # 10 cm high
        ((13.0, 1.0, 1.0), (0, 0, 0)),  # 26 m long
        ((float("inf"), 1.0, 1.0), (0, 0, 0)),
        ((float("nan"), 1.0, 1.0), (0, 0, 0)),
        (CAR, (0.0, float("nan"), 0.0)),
        (CAR, (3.5, 0, 0)),  # the box begins ahead of the car
        (CAR, (0, 1.6, 0)),  # or beside it
    ],
)
def test_implausible_boxes(half_m, centre_m):
    assert not believable(half_m, np.array(centre_m, dtype=float))


def test_plausible_offset_depends_on_the_length():
    assert believable((6.0, 1.3, 1.6), np.array([5.0, 0.0, 1.6]))
    assert not believable(CAR, np.array([5.0, 0.0, 0.75]))
    assert believable((0.19, 0.19, 0.93), np.zeros(3))  # a pedestrian


def test_plausible_box_is_kept():
    info = actor(CAR)
    half, actor_SE3_box, source = size_of(info)
    assert (half, source) == (CAR, "simulator")
    assert actor_SE3_box is info.actor_SE3_box


def test_implausible_box_is_replaced_by_the_class_size_on_the_ground():
    half, actor_SE3_box, source = size_of(actor((0.0, 0.0, 0.0), (0, 0, 0)))
    assert (half, source) == (class_of_label("car").half_extent_m, "table")
    np.testing.assert_array_equal(actor_SE3_box.translation_m, [0, 0, half[2]])


def test_replaced_pedestrian_box_is_centred_at_the_origin():
    info = actor((0.0, 0.0, 0.0), kind="walker", blueprint="walker.pedestrian.0001", base_type="", semantic_tag=12)
    half, actor_SE3_box, source = size_of(info)
    assert (half, source) == (class_of_label("pedestrian").half_extent_m, "table")
    np.testing.assert_array_equal(actor_SE3_box.translation_m, [0, 0, 0])
