"""Agents beside the drones are where their actor is in the tick, or where they stand."""

from __future__ import annotations

import numpy as np
import pytest

from uavsim.errors import MissedTick, SceneVoid
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.records.sensors import Agent
from uavsim.simulate.ground import GroundAgents
from uavsim.simulate.ports import SceneTraffic, TickState

POLE = SE3(quaternion.from_yaw(0.7), np.array([3.0, 4.0, 5.0]))
CAR = ActorInfo(9, 412, "vehicle", "vehicle.audi.a2", "car", (2.0, 1.0, 0.8), SE3.identity(()), 14, {})
TRAFFIC = SceneTraffic((CAR,), {}, {Agent(0, "vehicle"): CAR, Agent(0, "roadside"): POLE})


def tick(ids: list[int], *, roll_deg: float = 0.0) -> TickState:
    n = len(ids)
    half = np.radians(roll_deg) / 2
    turn = np.array([np.cos(half), np.sin(half), 0.0, 0.0]) if roll_deg else quaternion.from_yaw(0.2)
    place = SE3(np.tile(turn, (n, 1)), np.arange(3.0 * n).reshape(n, 3))
    column = np.arange(3.0 * n).reshape(n, 3) + 100
    return TickState(77, 1.0, lambda: ActorStates(np.array(ids, np.int64), place, column, column, column, column))


def test_each_is_where_its_actor_is_or_stands() -> None:
    ground = GroundAgents(TRAFFIC)
    (pole,) = ground.standing
    (car,) = ground.carried(tick([2, 9, 11]))
    assert (pole.agent, pole.map_SE3_flu.translation_m.tolist(), pole.instance_id) == (
        Agent(0, "roadside"),
        [3, 4, 5],
        0,
    )
    assert (car.agent, car.instance_id) == (Agent(0, "vehicle"), 9)
    assert car.map_SE3_flu.translation_m.tolist() == [3, 4, 5]
    assert car.velocity_map_mps.tolist() == [103, 104, 105]


def test_a_vehicle_that_is_gone_voids_the_tick_in_one_line() -> None:
    with pytest.raises(MissedTick, match=r"tick 77: the vehicle of agent v0 \(vehicle.audi.a2\) is gone$"):
        GroundAgents(TRAFFIC).carried(tick([2, 11]))


@pytest.mark.parametrize("roll_deg", [75.0, 180.0, -90.0])
def test_a_vehicle_that_turns_over_voids_the_scene(roll_deg: float) -> None:
    GroundAgents(TRAFFIC).carried(tick([9], roll_deg=20.0))  # on a bank
    with pytest.raises(SceneVoid, match=r"tick 77: the vehicle of agent v0 \(vehicle.audi.a2\) has turned over$"):
        GroundAgents(TRAFFIC).carried(tick([9], roll_deg=roll_deg))
