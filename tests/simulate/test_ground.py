"""Poses of ground agents: those of their actors in the tick, or static ones."""

from dataclasses import replace

import numpy as np
import pytest

from tools.common.factories import make_plan
from uavsim.errors import MissedTick, SceneVoid
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.vehicles import VehiclesPlan
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates, DroneState
from uavsim.records.sensors import Agent
from uavsim.simulate.ground import GroundAgents
from uavsim.simulate.ports import SceneTraffic, TickState

POLE = SE3(quaternion.from_yaw(0.7), np.array([3.0, 4.0, 5.0]))
CAR = ActorInfo(9, 412, "vehicle", "vehicle.audi.a2", "car", (2.0, 1.0, 0.8), SE3.identity(()), 14, {})
LORRY = ActorInfo(
    11, 413, "vehicle", "vehicle.carlamotors.firetruck", "truck", (4.0, 1.5, 1.8), SE3.identity(()), 15, {}
)
TRAFFIC = SceneTraffic((CAR, LORRY), {}, {Agent(0, "vehicle"): CAR, Agent(0, "roadside"): POLE})
PLAN = make_plan(drones=2)
PLAN = replace(PLAN, town=replace(PLAN.town, map_bounds_m=(-200.0, -200.0, 200.0, 200.0)))


def ground(plan: ScenePlan = PLAN) -> GroundAgents:
    return GroundAgents(TRAFFIC, plan)


def tick(
    ids: list[int],
    *,
    roll_deg: float = 0.0,
    positions_m: list[list[float]] | None = None,
    speed_mps: tuple[float, float, float] | None = None,
) -> TickState:
    n = len(ids)
    half = np.radians(roll_deg) / 2
    turn = np.array([np.cos(half), np.sin(half), 0.0, 0.0]) if roll_deg else quaternion.from_yaw(0.2)
    places = np.arange(3.0 * n).reshape(n, 3) if positions_m is None else np.array(positions_m)
    pose = SE3(np.tile(turn, (n, 1)), places)
    column = np.arange(3.0 * n).reshape(n, 3) + 100 if speed_mps is None else np.tile(np.array(speed_mps), (n, 1))
    return TickState(77, 1.0, lambda: ActorStates(np.array(ids, np.int64), pose, column, column, column, column))


def test_agents_have_their_actors_or_static_poses() -> None:
    agents = ground()
    (pole,) = agents.standing
    (car,) = agents.carried(tick([2, 9, 11]), ())
    assert (pole.agent, pole.map_SE3_flu.translation_m.tolist(), pole.instance_id) == (
        Agent(0, "roadside"),
        [3, 4, 5],
        0,
    )
    assert (car.agent, car.instance_id) == (Agent(0, "vehicle"), 9)
    assert car.map_SE3_flu.translation_m.tolist() == [3, 4, 5]
    assert car.velocity_map_mps.tolist() == [103, 104, 105]


def test_missing_vehicle_is_a_missed_tick() -> None:
    with pytest.raises(MissedTick, match=r"tick 77: the vehicle of agent v0 \(vehicle.audi.a2\) is gone$"):
        ground().carried(tick([2, 11]), ())


@pytest.mark.parametrize("roll_deg", [75.0, 180.0, -90.0])
def test_overturned_vehicle_voids_the_scene(roll_deg: float) -> None:
    ground().carried(tick([9], roll_deg=20.0), ())  # on a bank
    with pytest.raises(SceneVoid, match=r"tick 77: the vehicle of agent v0 \(vehicle.audi.a2\) has turned over$"):
        ground().carried(tick([9], roll_deg=roll_deg), ())


@pytest.mark.parametrize(
    ("position_m", "speed_mps", "where"),
    [
        ([0.0, 0.0, 0.3], (8.0, 0.0, -13.0), "x=0.0 y=0.0 z=0.3"),  # it falls
        ([9999.0, 0.0, 0.3], (0.0, 0.0, 0.0), "x=9999.0 y=0.0 z=0.3"),
    ],
)
def test_vehicle_off_the_map_voids_the_scene(
    position_m: list[float], speed_mps: tuple[float, float, float], where: str
) -> None:
    with pytest.raises(SceneVoid, match=rf"agent v0 \(vehicle.audi.a2\) has left the map at {where}$"):
        ground().carried(tick([9], positions_m=[position_m], speed_mps=speed_mps), ())


AHEAD_M = [3.8 * np.cos(0.2), 3.8 * np.sin(0.2), 0.0]  # 2 + 4 m of half lengths: 2.2 m deep
CLEAR_M = [6.1 * np.cos(0.2), 6.1 * np.sin(0.2), 0.0]
STILL, ROLLING = (0.0, 0.05, 0.0), (0.5, 0.0, 0.0)


def test_collided_vehicle_voids_the_scene_at_the_second_capture() -> None:
    agents = ground()
    agents.carried(tick([9, 11], positions_m=[[0, 0, 0], AHEAD_M], speed_mps=STILL), ())
    with pytest.raises(
        SceneVoid, match=r"agent v0 \(vehicle.audi.a2\) collided with vehicle.carlamotors.firetruck and stands$"
    ):
        agents.carried(tick([9, 11], positions_m=[[0, 0, 0], AHEAD_M], speed_mps=STILL), ())


@pytest.mark.parametrize(
    ("other_m", "speed_mps"), [(AHEAD_M, ROLLING), (CLEAR_M, STILL), ([*AHEAD_M[:2], 6.0], STILL)], ids=str
)
def test_moving_or_separate_vehicle_is_accepted(other_m: list[float], speed_mps: tuple[float, float, float]) -> None:
    agents = ground()
    for _ in range(3):
        agents.carried(tick([9, 11], positions_m=[[0, 0, 0], other_m], speed_mps=speed_mps), ())


def test_vehicle_far_from_the_drones_voids_the_scene_if_limited() -> None:
    agent, at = Agent(0, "vehicle"), np.zeros(3)
    poses = [SE3(quaternion.from_yaw(0.0), np.array([x, 0.0, 60.0])) for x in (0.0, 50.0)]
    drones = [DroneState(n, pose, at, pose) for n, pose in enumerate(poses)]
    for within_m in (None, 60.0, 50.0):
        plan = replace(PLAN, ingredients={"vehicles": VehiclesPlan((agent,), (), "own", False, within_m=within_m)})
        moment = tick([9], positions_m=[[100.0, 22.0, 0.3]], speed_mps=(5.0, 0.0, 0.0))  # 54.6 m from the second
        if within_m == 50.0:
            with pytest.raises(SceneVoid, match=r"agent v0 .* is 55 m from the nearest drone, not within 50 m$"):
                ground(plan).carried(moment, drones)
        else:
            ground(plan).carried(moment, drones)
