import numpy as np
from headless_simulator.world.actors import SpawnOrder
from headless_simulator.world.signals import GREEN, RED, YELLOW, Signals

from tests.world.paper_town import head, world

TWO_STAGES = (head(1, 0, 0.0), head(1, 1, 50.0), head(2, 0, 100.0))


def run(signals, seconds, dt=0.05):
    for _ in range(round(seconds / dt)):
        signals.step(dt)


def test_stages_last_10_s_green_3_s_yellow_2_s_red():
    signals = Signals(TWO_STAGES)
    assert signals.state.tolist() == [GREEN, RED, GREEN]

    run(signals, 9.9)
    assert signals.state.tolist() == [GREEN, RED, GREEN]
    run(signals, 0.2)
    assert signals.state.tolist() == [YELLOW, RED, YELLOW]
    run(signals, 3.0)
    assert signals.state.tolist() == [RED, RED, RED]
    run(signals, 2.0)
    assert signals.state.tolist() == [RED, GREEN, GREEN]  # the second junction has one stage only


def test_two_stages_are_never_green_together():
    signals = Signals(TWO_STAGES)
    for _ in range(2000):
        signals.step(0.05)
        assert not (signals.state[0] != RED and signals.state[1] != RED)


def test_reset_restarts_the_signal_cycle():
    fresh, old = Signals(TWO_STAGES), Signals(TWO_STAGES)
    run(old, 123.45)
    old.reset()

    for _ in range(700):
        fresh.step(0.05)
        old.step(0.05)
        np.testing.assert_array_equal(fresh.state, old.state)


def test_a_forced_light_keeps_its_state_until_its_junction_moves_on():
    signals = Signals(TWO_STAGES)
    signals.force(1, GREEN)
    run(signals, 5.0)
    assert signals.state[1] == GREEN

    run(signals, 6.0)
    assert signals.state[1] == RED


def test_frozen_lights_stay():
    signals = Signals(TWO_STAGES)
    signals.frozen = True
    run(signals, 60.0)

    assert signals.state.tolist() == [GREEN, RED, GREEN]


def test_client_sets_green_time():
    signals = Signals(TWO_STAGES)
    signals.green_s[0] = 1.0
    run(signals, 1.1)

    assert signals.state[0] == YELLOW


def test_vehicle_is_at_its_light_while_its_box_overlaps():
    """CARLA's trigger boxes report overlaps that begin and end, so a car that waits beyond the line is still held."""
    here = world(signals=(head(1, 0, 0.0),))  # the box reaches from x = -5 to 5
    car = here.spawn(SpawnOrder("vehicle.tesla.model3", pose=(-30.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    at = {}
    for x in (-8.0, -7.0, 0.0, 7.0, 8.0):
        here.teleport(car, (x, 0.0, 0.0, 0.0, 0.0, 0.0))
        here.step(0.05)
        at[x] = here.table.c.signal[car.row] == 0

    assert 2.0 < car.half_m[0] < 3.0
    assert at == {-8.0: False, -7.0: True, 0.0: True, 7.0: True, 8.0: False}


def test_a_car_in_the_next_lane_is_at_no_light():
    here = world(signals=(head(1, 0, 0.0),))  # the box reaches from y = -2 to 2
    car = here.spawn(SpawnOrder("vehicle.tesla.model3", pose=(0.0, 3.5, 0.0, 0.0, 0.0, 0.0)))
    here.step(0.05)

    assert here.table.c.signal[car.row] == -1
