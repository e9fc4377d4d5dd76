import numpy as np
from headless_simulator.world.movers import movers_of
from headless_simulator.world.table import PROP, SENSOR, VEHICLE, ActorTable


def test_movers_have_reported_poses_and_brake_lights() -> None:
    table = ActorTable()
    prop, _, brakes, rolls = (
        table.claim(kind, number) for kind, number in ((PROP, 7), (SENSOR, 5), (VEHICLE, 3), (VEHICLE, 2))
    )
    c = table.c
    c.model[[prop, brakes, rolls]] = 4, 1, 2
    c.pose[brakes], c.colour[brakes], c.lights[brakes] = 0.1, (1, 2, 3), 3
    c.control[[prop, brakes], 2], c.control[rolls, 2] = 1.0, 0.05

    movers = movers_of(table)

    assert movers.actor_id.tolist() == [2, 3, 7]
    assert movers.model.tolist() == [2, 1, 4]
    assert movers.lights.tolist() == [0, 3 | 8, 0]
    assert movers.colour_rgb[1].tolist() == [1, 2, 3]
    assert movers.pose[1].tolist() == [float(np.float32(0.1))] * 6
    assert (movers.model.dtype, movers.pose.dtype, movers.actor_id.dtype, movers.colour_rgb.dtype, movers.lights.dtype) == (
        np.int32, np.float64, np.uint32, np.uint8, np.uint32,
    )  # fmt: skip
