"""Collisions of one tick, against hand-computed values."""

import numpy as np
from headless_simulator.scene import StaticObject
from headless_simulator.world import crashes
from headless_simulator.world.actors import Actor, SpawnOrder
from headless_simulator.world.world import World

from tests.world.paper_town import world

WALL = StaticObject(1, "Wall_1", 4, (15.0, 0, 0, 0, 0, 0), (15.0, 0.0, 1.0), (0.5, 10.0, 1.0))
CAR, WALKER, BARRIER = "vehicle.tesla.model3", "walker.pedestrian.0001", "static.prop.streetbarrier"


def entered(town: World, blueprint: str, x: float) -> Actor:
    return town.enter(SpawnOrder(blueprint, pose=(x, 0.0, 0.0, 0.0, 0.0, 0.0)), wanted_id=0)


def resolved(town: World, *cars: Actor, before_x: float) -> list[tuple[int, int, str]]:
    rows = np.array([car.row for car in cars])
    before = town.table.c.pose[rows]
    before[:, 0] = before_x
    return [
        (t.actor_id, t.other_id, t.other_name) for t in crashes.resolve(town.table, rows, before, town.scenery.walls)
    ]


def test_collision_moves_the_car_back_and_reports_both_cars() -> None:
    town = world()
    rear, front = entered(town, CAR, 0.0), entered(town, CAR, 4.0)
    c = town.table.c
    c.speed[rear.row], c.velocity[rear.row], c.mass[rear.row] = 5.0, (5.0, 1.0, 0.0), 1000.0
    rows, before = np.array([rear.row, front.row]), c.pose[[rear.row, front.row]]
    before[0, 0] = -0.5

    touches = crashes.resolve(town.table, rows, before, town.scenery.walls)

    assert [(t.actor_id, t.other_id, t.other_name) for t in touches] == [
        (rear.actor_id, front.actor_id, ""), (front.actor_id, rear.actor_id, ""),
    ]  # fmt: skip
    assert touches[0].impulse == (-5000.0, -1000.0, 0.0)  # against its way, as it was when they met
    assert (c.pose[rear.row, 0], c.speed[rear.row], c.velocity[rear.row].tolist()) == (-0.5, 0.0, [0.0, 0.0, 0.0])
    assert c.pose[front.row, 0] == 4.0


def test_car_may_leave_an_overlap() -> None:
    town = world()
    rear, front = entered(town, CAR, 0.0), entered(town, CAR, 4.0)
    town.table.c.speed[rear.row] = -5.0
    resolved(town, rear, front, before_x=4.0)

    assert town.table.c.pose[rear.row, 0] == 0.0
    assert town.table.c.speed[rear.row] == -5.0


def test_props_stop_cars_silently_and_walkers_do_not_stop_them() -> None:
    town = world()
    walker, car = entered(town, WALKER, 2.0), entered(town, CAR, 0.0)
    town.table.c.speed[car.row] = 5.0
    assert set(resolved(town, car, before_x=-0.5)) == {
        (walker.actor_id, car.actor_id, ""), (car.actor_id, walker.actor_id, ""),
    }  # fmt: skip
    assert town.table.c.pose[car.row, 0] == 0.0

    town.destroy(walker.actor_id)
    barrier = entered(town, BARRIER, 2.0)
    assert resolved(town, car, before_x=-1.5) == [(car.actor_id, barrier.actor_id, "")]
    assert town.table.c.pose[car.row, 0] == -1.5


def test_only_moving_cars_hit_walls() -> None:
    town = world(objects=(WALL,))
    car = entered(town, CAR, 13.0)
    assert resolved(town, car, before_x=12.0) == []

    town.table.c.speed[car.row] = 5.0
    touches = resolved(town, car, before_x=12.0)
    assert touches == [(car.actor_id, 0, "Wall_1")]
    assert town.table.c.pose[car.row, 0] == 12.0
