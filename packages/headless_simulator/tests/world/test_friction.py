import pytest
from headless_simulator.world.actors import SpawnOrder
from headless_simulator.world.friction import TRIGGER, number, trigger_half_m

from tests.world.paper_town import world

DT = 0.05
CAR = "vehicle.tesla.model3"


def driving(w, speed_mps, *, y=0.0):
    car = w.spawn(SpawnOrder(CAR, pose=(0.0, y, 0.0, 0.0, 0.0, 0.0)))
    w.table.c.target[car.row], w.table.c.target_set[car.row] = (speed_mps, 0.0, 0.0), 1
    return car


def trigger(w, x, friction):
    extent = {f"extent_{axis}": "500.0f" for axis in "xyz"}
    return w.spawn(SpawnOrder(TRIGGER, pose=(x, 0.0, 0.0, 0.0, 0.0, 0.0), attributes={"friction": friction, **extent}))


def run(w, ticks):
    for _ in range(ticks):
        w.step(DT)


@pytest.mark.parametrize(
    ("text", "value"), [("3.5f", 3.5), ("-2", -2.0), (".5", 0.5), ("1e2x", 100.0), ("", 7.0), ("f", 7.0)]
)
def test_numbers_are_parsed_as_in_c(text: str, value: float) -> None:
    assert number(text, 7.0) == value


def test_a_triggers_size_is_in_centimetres() -> None:
    assert trigger_half_m({"extent_x": "300.0", "extent_y": "4500"}) == pytest.approx((3.0, 45.0, 1.0))


def test_zero_friction_and_drag_keep_the_velocity() -> None:
    w = world()
    car = driving(w, 20.0)
    c = w.table.c
    c.grip[car.row] = c.own_grip[car.row] = c.drag[car.row] = 0.0
    c.control[car.row] = 0.0, 0.5, 1.0
    run(w, 40)

    assert c.velocity[car.row, 0] == pytest.approx(20.0)
    assert c.pose[car.row, 4] == pytest.approx(0.0)


def test_friction_trigger_applies_inside_its_box() -> None:
    w = world()
    trigger(w, 20.0, "0.25f")
    car, other = driving(w, 10.0), driving(w, 10.0, y=50.0)
    c, samples = w.table.c, []
    for _ in range(80):
        w.step(DT)
        samples.append((float(c.pose[car.row, 0]), float(c.grip[car.row])))
        assert c.grip[other.row] == 3.5

    assert {grip for x, grip in samples if x < 12 or x > 29} == {3.5}
    assert {grip for x, grip in samples if 16 < x < 24} == {0.25}


def test_destroyed_friction_trigger_has_no_effect() -> None:
    w = world()
    gone = trigger(w, 0.0, "0.1")
    car = driving(w, 1.0)
    run(w, 2)
    assert w.table.c.grip[car.row] == 0.1
    w.destroy(gone.actor_id)
    run(w, 1)
    assert w.table.c.grip[car.row] == 3.5
