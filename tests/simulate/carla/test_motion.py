from types import SimpleNamespace
from typing import Any

import numpy as np
from carla import TrafficLightState

from uavsim.simulate.carla.motion import MotionReader


def car(actor_id: int, *, light: TrafficLightState | None = None, **control: Any) -> Any:
    values = {"throttle": 0.5, "steer": -0.25, "brake": 0.0, "hand_brake": False, "gear": 1, "reverse": False} | control
    return SimpleNamespace(
        id=actor_id,
        type_id="vehicle.a.b",
        get_control=lambda: SimpleNamespace(**values),
        is_at_traffic_light=lambda: light is not None,
        get_traffic_light_state=lambda: TrafficLightState.Green if light is None else light,
    )


class World:
    def __init__(self) -> None:
        self.light_requests = 0
        walker = SimpleNamespace(id=12, type_id="walker.pedestrian.1", get_control=lambda: SimpleNamespace(speed=1.5))
        self.actors = [
            car(10, light=TrafficLightState.Green),
            car(11, light=TrafficLightState.Red, reverse=True, gear=1, brake=1.0, hand_brake=True),
            walker,
        ]
        self.lights = [SimpleNamespace(get_opendrive_id=lambda n=n: n, state=len(n)) for n in ("20", "3")]

    def get_actors(self, ids: list[int] | None = None) -> Any:
        if ids is not None:
            return [a for a in self.actors if a.id in ids]
        return SimpleNamespace(filter=lambda _kind: self.lights)

    def get_vehicles_light_states(self) -> dict[int, int]:
        self.light_requests += 1
        return {10: 8, 11: 0, 99: 4}


def test_motion_of_a_tick() -> None:
    world: Any = World()
    reader = MotionReader(world, {10: 1, 11: 2, 12: 3})
    table = np.zeros((3, 16))
    table[:, 0], table[:, 1:7] = (1, 2, 3), np.arange(18).reshape(3, 6)
    quiet, captured = reader.read(table, captured=False), reader.read(table, captured=True)
    assert world.light_requests == 1  # where images show lights
    assert quiet.lights.tolist() == [0, 0, 0]
    assert captured.lights.tolist() == [8, 0, 0]
    assert captured.control.tolist() == [[0.5, -0.25, 0, 0, 1], [0.5, -0.25, 1, 1, -1], [1.5, 0, 0, 0, 0]]
    np.testing.assert_array_equal(captured.ue_pose, table[:, 1:7])
    assert captured.is_held.tolist() == [False, True, False]
    assert (captured.signal_id, captured.signals.tolist()) == (("20", "3"), [2, 1])
