import numpy as np
from headless_simulator.world.speed_limits import SpeedLimits
from headless_simulator.world.table import VEHICLE, ActorTable


def test_a_vehicle_has_the_limit_of_the_nearest_sample() -> None:
    table = ActorTable()
    rows = np.array([table.claim(VEHICLE, number) for number in (1, 2, 3)])
    table.c.pose[rows, 0] = 10.0, 49.0, 51.0
    SpeedLimits([(0.0, 0.0, 30.0), (100.0, 0.0, 90.0)]).write(rows[1:], table.c)

    assert table.c.limit[rows].tolist() == [0.0, 30.0, 90.0]


def test_a_town_without_limits_has_fifty() -> None:
    table = ActorTable()
    row = table.claim(VEHICLE, 1)
    SpeedLimits([]).write(np.array([row]), table.c)

    assert table.c.limit[row] == 50.0
