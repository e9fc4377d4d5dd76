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


def asked(count: int, **more: Any) -> VehiclesPlan:
    return VehiclesPlan(tuple(Agent(n, "vehicle") for n in range(count)), (), "own", False, **more)


@pytest.mark.parametrize(
    ("record", "ids"),
    [
        (asked(2), [4, 5]),  # both 30 m away: by id
        (asked(2, near="route"), [7, 5]),
        (asked(2, blueprint="vehicle.audi.*"), [7, 9]),
        (asked(3, at=((-150.0, 0.0),)), [9, 4, 5]),
        (asked(2, at=((99.0, 0.0), (99.0, 0.0))), [7, 5]),  # no car twice
        (asked(3, near="route", within_m=40.0), [7, 5, 4]),
    ],
)
def test_who_it_is(record: VehiclesPlan, ids: list[int]) -> None:
    assert chosen(TRAFFIC, record, WAY_M) == ids
    assert chosen(TRAFFIC[::-1], record, WAY_M) == ids


def test_too_few_are_said_with_what_was_asked() -> None:
    message = (
        r"2 vehicles are to carry the rig own, and 1 of the traffic's 4 cars on which it fits are a vehicle.audi.\* within "
        r"30 m of the swarm's route: sensors"
    )
    with pytest.raises(SceneVoid, match=message):
        chosen(TRAFFIC, asked(2, near="route", within_m=30.0, blueprint="vehicle.audi.*"), WAY_M)
    with pytest.raises(SceneVoid, match=r"5 vehicles .* 4 of the traffic's 4 cars on which it fits are there: sensors"):
        chosen(TRAFFIC, asked(5), WAY_M)
