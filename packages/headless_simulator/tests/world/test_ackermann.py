"""The Ackermann controller, against a second implementation of CARLA's equations."""

import numpy as np
import pytest
from headless_simulator.world.actors import SpawnOrder

from tests.world.paper_town import world

DT = 0.05


class Equations:
    """FAckermannController's two controllers with gains (0.15, 0, 0.25) and (0.01, 0, 0.01); forward only."""

    def __init__(self) -> None:
        self.v = self.a = self.target_mps2 = self.pedal = 0.0
        self.v_then = self.a_then = 0.0  # what each controller saw last

    def pedals(self, target: float, v: float) -> tuple[float, float]:
        self.a = (4 * self.a + (v - self.v) / DT) / 5
        self.v = v
        if abs(v) < 0.1 and abs(target) < 0.1:
            return 0.0, 1.0
        out = 0.15 * (target - v) - 0.25 * (v - self.v_then) / DT
        self.v_then = v
        self.target_mps2 = np.clip(self.target_mps2 + np.clip(out, -1, 1), -8, 3)
        out = 0.01 * (self.target_mps2 - self.a) - 0.01 * (self.a - self.a_then) / DT
        self.a_then = self.a
        self.pedal = np.clip(self.pedal + np.clip(out, -1, 1), -1, 1)
        return max(self.pedal, 0.0), max(-self.pedal, 0.0)


def car_of(w):
    car = w.spawn(SpawnOrder("vehicle.tesla.model3", pose=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    return car, w.ackermann(car)


def test_pedals_follow_the_equations_at_every_tick() -> None:
    w = world()
    car, controller = car_of(w)
    c, paper = w.table.c, Equations()
    controller.speed, controller.active = 8.0, True
    speeds = []
    for tick in range(400):
        expected = paper.pedals(controller.speed, float(c.speed[car.row]))
        w.step(DT)
        throttle, _, brake = c.control[car.row]
        assert (throttle, brake) == pytest.approx(expected, abs=1e-9), tick
        speeds.append(float(c.speed[car.row]))
    assert max(speeds) < 11.0
    assert speeds[-1] == pytest.approx(8.0, abs=0.4)
    controller.speed = 0.0
    for _ in range(400):
        w.step(DT)
    assert c.speed[car.row] == 0.0
    assert c.control[car.row, 2] == 1.0, "it holds the brake"


def test_plain_control_ends_ackermann_control() -> None:
    w = world()
    car, controller = car_of(w)
    c = w.table.c
    controller.speed, controller.active = 8.0, True
    w.step(DT)
    c.control[car.row], c.control_set[car.row] = (0.0, 0.5, 1.0), 1
    for _ in range(3):
        w.step(DT)
    assert tuple(c.control[car.row]) == (0.0, 0.5, 1.0)
    assert not controller.active


def test_steering_speed_and_stop_before_reverse() -> None:
    w = world()
    car, controller = car_of(w)
    c = w.table.c
    controller.steer, controller.steer_speed, controller.speed, controller.active = 0.2, 0.4, 5.0, True
    most = float(c.max_steer[car.row])
    steering_rad = []
    for _ in range(12):
        w.step(DT)
        steering_rad.append(float(c.control[car.row, 1]) * most)
    np.testing.assert_allclose(steering_rad, np.minimum(0.02 * np.arange(1, 13), 0.2), atol=1e-12)
    c.target[car.row], c.target_set[car.row] = (5.0, 0.0, 0.0), 1
    controller.steer, controller.speed, controller.acceleration = 0.0, -3.0, 6.0
    for _ in range(600):
        before = float(c.speed[car.row])
        w.step(DT)
        assert before < 0.2 or not c.reverse[car.row]
    assert c.reverse[car.row]
    assert -4.5 < c.speed[car.row] < -1.5


def test_speed_gains_change_the_acceleration() -> None:
    w = world()
    (car, slow), (other, quick) = car_of(w), car_of_at(w, 30.0)
    quick.gains = (0.3, 0.0, 0.0, 0.1, 0.0, 0.0)
    for controller in (slow, quick):
        controller.speed, controller.active = 8.0, True
    for _ in range(20):
        w.step(DT)
    assert w.table.c.speed[other.row] > 2 * w.table.c.speed[car.row] > 0


def car_of_at(w, y):
    car = w.spawn(SpawnOrder("vehicle.tesla.model3", pose=(0.0, y, 0.0, 0.0, 0.0, 0.0)))
    return car, w.ackermann(car)
