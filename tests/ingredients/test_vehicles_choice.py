"""Cars with sensors are the nearest matching ones."""

from typing import Any

import numpy as np
import pytest

from uavsim.errors import SceneVoid
from uavsim.ingredients.vehicles import CarCandidate, VehiclesPlan, chosen
from uavsim.records.sensors import Agent

WAY_M = np.array([[0.0, 0.0], [50.0, 0.0], [100.0, 0.0]])
TRAFFIC = [
    CarCandidate(7, "vehicle.audi.a2", 100.0, 8.0),
    CarCandidate(5, "vehicle.tesla.model3", 30.0, 0.0),
    CarCandidate(4, "vehicle.tesla.cybertruck", 0.0, -30.0),
    CarCandidate(9, "vehicle.audi.tt", -200.0, 0.0),
]


def vehicles_plan(count: int, **more: Any) -> VehiclesPlan:
    return VehiclesPlan(tuple(Agent(n, "vehicle") for n in range(count)), (), "own", False, **more)


@pytest.mark.parametrize(
    ("record", "ids"),
    [
        (vehicles_plan(2), [4, 5]),  # both 30 m away: by id
        (vehicles_plan(2, near="route"), [7, 5]),
        (vehicles_plan(2, blueprint="vehicle.audi.*"), [7, 9]),
        (vehicles_plan(3, at=((-150.0, 0.0),)), [9, 4, 5]),
        (vehicles_plan(2, at=((99.0, 0.0), (99.0, 0.0))), [7, 5]),  # no car twice
        (vehicles_plan(3, near="route", within_m=40.0), [7, 5, 4]),
    ],
)
def test_who_it_is(record: VehiclesPlan, ids: list[int]) -> None:
    assert chosen(TRAFFIC, record, WAY_M) == ids
    assert chosen(TRAFFIC[::-1], record, WAY_M) == ids


def test_too_few_cars_are_refused_with_the_request() -> None:
    message = (
        r"2 vehicles need the rig own, which fits on 4 cars of the traffic \(.*\); only 1 of these match "
        r"blueprint vehicle.audi.\* within 30 m of the swarm's route"
    )
    with pytest.raises(SceneVoid, match=message):
        chosen(TRAFFIC, vehicles_plan(2, near="route", within_m=30.0, blueprint="vehicle.audi.*"), WAY_M)
    with pytest.raises(SceneVoid, match=r"5 vehicles .* fits on 4 cars .*; only 4 of these match blueprint \*$"):
        chosen(TRAFFIC, vehicles_plan(5), WAY_M)
