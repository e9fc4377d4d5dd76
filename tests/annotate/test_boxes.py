"""Attributes of tracks calculated by hand: moving, ridden, parked."""

import numpy as np
import pytest

from uavsim.annotate.boxes import attributes_of_track
from uavsim.annotate.options import AnnotateOptions
from uavsim.dataset.vocabulary import ATTRIBUTES
from uavsim.geometry.se3 import SE3
from uavsim.records.recording import ActorInfo

OPTIONS = AnnotateOptions(moving_mps=0.5, parked_moved_m=0.2)


def actor(kind="vehicle", **attributes):
    return ActorInfo(
        instance_id=1,
        simulator_actor_id=7,
        blueprint="vehicle.example.car",
        base_type="car",
        kind=kind,
        attributes=attributes,
        actor_SE3_box=SE3.identity(),
        half_extent_m=(2.0, 1.0, 0.8),
        semantic_tag=14,
    )


def names(info, label, speeds_mps, x_m=None):
    origins_m = np.zeros((len(speeds_mps), 3))
    origins_m[:, 0] = 0.0 if x_m is None else x_m
    rows = attributes_of_track(info, label, speed_mps=np.array(speeds_mps), origin_map_m=origins_m, options=OPTIONS)
    return [ATTRIBUTES[row][0] for row in rows]


def test_car_moves_above_the_threshold():
    assert names(actor(), "car", [0.6, 0.5, 0.0]) == ["vehicle.moving", "vehicle.stopped", "vehicle.stopped"]


def test_pedestrian_stands_or_moves():
    assert names(actor("walker"), "pedestrian", [0.0, 1.4]) == ["pedestrian.standing", "pedestrian.moving"]


@pytest.mark.parametrize(
    ("info", "attribute"),
    [
        (actor(), "cycle.with_rider"),
        (actor(role_name="parked"), "cycle.without_rider"),
        (actor("environment"), "cycle.without_rider"),
    ],
)
def test_bicycle_has_a_rider_unless_parked(info, attribute):
    assert names(info, "bicycle", [0.0, 5.0]) == [attribute] * 2


def test_town_vehicle_is_parked_at_any_speed():
    assert names(actor("environment"), "car", [0.0, 9.0]) == ["vehicle.parked"] * 2


@pytest.mark.parametrize(
    ("speeds_mps", "x_m", "parked"),
    [([0.0, 0.0], [0.0, 0.1], True), ([0.0, 0.0], [0.0, 0.3], False), ([0.0, 0.9], [0.0, 0.1], False)],
)
def test_parked_car_that_moves_is_not_parked(speeds_mps, x_m, parked):
    assert (names(actor(role_name="parked"), "car", speeds_mps, x_m)[0] == "vehicle.parked") is parked
