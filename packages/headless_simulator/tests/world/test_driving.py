"""Limits of four-wheeled vehicles: tyre grip in turns, and clearance above low objects."""

from dataclasses import replace

import numpy as np
import pytest
from headless_simulator.models import ModelLibrary
from headless_simulator.world.actors import SpawnOrder
from headless_simulator.world.world import World

from tests.world.paper_town import NoRenderer, town, world

DT = 0.05
CAR = "vehicle.tesla.model3"
TYRES_HOLD_MPS2 = 9.81


def driving(w, speed_mps):
    car = w.spawn(SpawnOrder(CAR, pose=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    w.table.c.target[car.row], w.table.c.target_set[car.row] = (speed_mps, 0.0, 0.0), 1
    w.step(DT)
    return car


def lateral_mps2(velocities):
    """Return the (N,) lateral acceleration, m/s2, of a path with (N + 1, 2) velocities."""
    before, after = velocities[:-1], velocities[1:]
    across = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return np.abs(across) / np.linalg.norm(before + after, axis=1) * 2 / DT


@pytest.mark.parametrize("speed_mps", [-3.0, 3.0, 5.5, 8.0, 15.0, 30.0])
@pytest.mark.parametrize("turn", [0.15, 0.6, 1.0])
def test_lateral_acceleration_is_limited_by_the_tyres(speed_mps: float, turn: float) -> None:
    w = world()
    car, c, velocities = driving(w, speed_mps), w.table.c, []
    for tick in range(120):
        c.control[car.row] = 0.3, turn if tick // 20 % 2 else -turn, 0.0
        w.step(DT)
        velocities.append(c.velocity[car.row, :2].copy())

    assert lateral_mps2(np.array(velocities)).max() < TYRES_HOLD_MPS2


def test_slow_turn_radius_follows_the_steering_angle() -> None:
    w = world()
    car, c = driving(w, 2.0), w.table.c
    for _ in range(40):
        c.control[car.row] = 0.1, 1.0, 0.0
        w.step(DT)

    assert c.steer[car.row] == pytest.approx(np.radians(70.0))


@pytest.mark.parametrize(
    ("prop", "passes"),
    [("static.prop.dirtdebris01", True), ("static.prop.brokentile01", True), ("static.prop.barrel", False)],
)
def test_car_drives_over_low_obstacles(prop: str, passes: bool) -> None:
    w = world()
    w.spawn(SpawnOrder(prop, pose=(20.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    car, c = driving(w, 8.0), w.table.c
    for _ in range(100):
        c.control[car.row] = 0.3, 0.0, 0.0
        w.step(DT)

    assert (c.pose[car.row, 0] > 30.0) == passes
    assert bool(c.speed[car.row] > 5.0) == passes


def test_cars_stay_on_their_level_of_a_bridge() -> None:
    flat = town()
    heights, under = np.full_like(flat.ground.height_m, 10.0), np.full_like(flat.ground.height_m, np.nan)
    under[:, 51:54] = 0.0  # the lower road, x of 10 to 30 m, under a bridge that lies everywhere
    ground = replace(flat.ground, height_m=heights, under_m=under)
    w = World(replace(flat, ground=ground), models=ModelLibrary(), renderer_of=lambda _: NoRenderer())
    over = w.spawn(SpawnOrder(CAR, pose=(0.0, 0.0, 10.0, 0.0, 0.0, 0.0)))
    below = w.spawn(SpawnOrder(CAR, pose=(20.0, -30.0, 0.0, 0.0, 90.0, 0.0)))
    c, heights_m = w.table.c, []
    c.target[over.row], c.target[below.row] = (10.0, 0.0, 0.0), (0.0, 10.0, 0.0)
    c.target_set[[over.row, below.row]] = 1
    for _ in range(100):
        w.step(DT)
        heights_m.append(c.pose[[over.row, below.row], 2].copy())

    assert c.pose[over.row, 0] > 30.0
    assert c.pose[below.row, 1] > 0.0
    np.testing.assert_allclose(np.array(heights_m), [[10.0, 0.0]] * 100, atol=1e-6)


def moved(w, actor, ticks: int):
    """Return an actor's displacement x, y, z, metres, after some ticks."""
    c = w.table.c
    before = c.pose[actor.row, :3].copy()
    for _ in range(ticks):
        w.step(DT)
    return c.pose[actor.row, :3] - before


@pytest.mark.parametrize("blueprint", [CAR, "walker.pedestrian.0001", "static.prop.barrel"])
@pytest.mark.parametrize("velocity", [(0.0, 3.0, 0.0), (2.0, -1.0, 0.0), (0.0, 0.0, 2.0)])
def test_constant_velocity_is_in_the_actors_frame(blueprint: str, velocity) -> None:
    w = world()
    actor = w.spawn(SpawnOrder(blueprint, pose=(0.0, 0.0, 1.0, 0.0, 90.0, 0.0)))
    w.table.c.constant[actor.row] = (*velocity, 1.0)
    w.table.c.gravity[actor.row] = 0
    x, y, z = velocity

    np.testing.assert_allclose(moved(w, actor, 20)[[1, 0, 2]], [x, -y, z or moved(w, actor, 0)[2]], atol=0.02)


@pytest.mark.parametrize("blueprint", [CAR, "walker.pedestrian.0001", "static.prop.barrel"])
def test_body_without_gravity_keeps_its_velocity(blueprint: str) -> None:
    w = world()
    c, actor = w.table.c, w.spawn(SpawnOrder(blueprint, pose=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    moved(w, actor, 40)
    c.gravity[actor.row], c.target[actor.row], c.target_set[actor.row] = 0, (0.0, 1.0, 2.0), 1

    np.testing.assert_allclose(moved(w, actor, 20), [0.0, 1.0, 2.0], atol=0.1)


@pytest.mark.parametrize("blueprint", [CAR, "walker.pedestrian.0001", "static.prop.barrel"])
def test_friction_stops_a_sliding_body(blueprint: str) -> None:
    w = world()
    c, actor = w.table.c, w.spawn(SpawnOrder(blueprint, pose=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    moved(w, actor, 40)
    c.target[actor.row], c.target_set[actor.row] = (0.0, 3.0, 0.0), 1

    assert 0.05 < moved(w, actor, 40)[1] < 1.5
    assert np.linalg.norm(moved(w, actor, 20)) < 1e-6
