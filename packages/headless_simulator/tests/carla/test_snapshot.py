"""Bytes of actor states, against the layout of ``wire``."""

import numpy as np
from headless_simulator.carla import snapshot, wire
from headless_simulator.world.actors import SpawnOrder

from tests.world.paper_town import head, world

HEADERS = wire.SENSOR_HEADER.size + wire.EPISODE_HEADER.size


def test_states_of_vehicle_and_walker() -> None:
    town = world(signals=(head(1, 0, 0.0), head(1, 1, 50.0)))
    car = town.spawn(SpawnOrder("vehicle.tesla.model3", pose=(50.0, 0.0, 0.0, 1.0, 2.0, 3.0)))
    walker = town.spawn(SpawnOrder("walker.pedestrian.0001", pose=(80.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
    c, row = town.table.c, car.row
    c.velocity[row], c.angular[row], c.acceleration[row] = (1.5, -2.5, 0.1), (4.0, 5.0, 6.0), (-7.0, 1e-40, 1e300)
    c.control[row], c.gear[row], c.limit[row], c.signal[row] = (0.3, 1e300, 1.0), -1, 90.0, 1
    c.hand_brake[row], c.manual[row] = 1, 1
    c.velocity[walker.row], walker.walk_speed, c.jump[walker.row] = (0.0, 2.0, 0.0), 2.0, 1

    states = np.frombuffer(snapshot.pack(town, flags=0, observer=17)[HEADERS:], wire.ACTOR_STATE)

    assert states["id"].tolist() == sorted(town.actors)
    assert set(states["state"].tolist()) == {1}
    (state,) = states[states["id"] == car.actor_id]
    for name in ("velocity", "angular", "acceleration"):
        with np.errstate(over="ignore"):
            assert state[name].tolist() == getattr(c, name)[row].astype(np.float32).tolist()
    assert state["transform"].tolist() == [50.0, 0.0, 0.0, 1.0, 2.0, 3.0]
    driven = np.frombuffer(state["data"].tobytes(), wire.VEHICLE_DATA)[0]
    assert driven["control"].tolist() == [np.float32(0.3), np.inf, 1.0]
    assert [int(driven[name]) for name in ("hand_brake", "reverse", "manual", "gear", "limit")] == [1, 0, 1, -1, 90]
    assert [int(driven[name]) for name in ("tl_state", "has_tl", "tl_id")] == [0, 1, town.lights[1].actor_id]
    (on_foot,) = states[states["id"] == walker.actor_id]
    walks = np.frombuffer(on_foot["data"].tobytes(), wire.WALKER_DATA)[0]
    assert (walks["direction"].tolist(), float(walks["speed"]), int(walks["jump"])) == ([0.0, 1.0, 0.0], 2.0, 1)


def test_dormant_vehicle_has_no_limit_and_no_light() -> None:
    town = world(signals=(head(1, 0, 50.0),))
    car = town.spawn(SpawnOrder("vehicle.tesla.model3", pose=(50.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    c, row = town.table.c, car.row
    c.dormant[row], c.limit[row], c.signal[row] = 1, 90.0, 0
    town.signal_state.state[0] = 0  # red

    states = np.frombuffer(snapshot.pack(town, flags=0, observer=17)[HEADERS:], wire.ACTOR_STATE)

    (state,) = states[states["id"] == car.actor_id]
    driven = np.frombuffer(state["data"].tobytes(), wire.VEHICLE_DATA)[0]
    assert int(state["state"]) == 2
    assert [int(driven[name]) for name in ("limit", "tl_state", "has_tl", "tl_id")] == [0, 2, 0, 0]


def test_states_of_traffic_lights() -> None:
    town = world(signals=(head(1, 0, 0.0), head(1, 1, 50.0), head(2, 0, 90.0)))
    town.step(0.05)
    town.signal_state.green_s[1] = 12.5
    town.signal_state.frozen = True

    states = np.frombuffer(snapshot.pack(town, flags=0, observer=17)[HEADERS:], wire.ACTOR_STATE)
    lights = np.frombuffer(b"".join(s["data"].tobytes() for s in states[:3]), wire.LIGHT_DATA)

    assert lights["sign_id"].tolist() == [b"s10", b"s11", b"s20"]
    assert lights["green"].tolist() == [10.0, 12.5, 10.0]
    assert [lights[name][0] for name in ("yellow", "red", "elapsed")] == [3.0, 2.0, np.float32(0.05)]
    assert lights["pole"].tolist() == [0, 1, 0]
    assert lights["state"].tolist() == [2, 0, 2]
    assert lights["frozen"].tolist() == [1, 1, 1]


def test_spoiled_poses_are_nan() -> None:
    town = world()
    cars = [town.spawn(SpawnOrder("vehicle.tesla.model3", pose=(x, 0, 0, 0, 0, 0))) for x in (0.0, 20.0)]

    packed = snapshot.pack(town, flags=0, observer=17, spoiled=[cars[0].actor_id])
    states = np.frombuffer(packed[HEADERS:], wire.ACTOR_STATE)

    spoiled = states["id"] == cars[0].actor_id
    assert np.isnan(states["transform"][spoiled]).all()
    assert np.isfinite(states["transform"][~spoiled]).all()
    assert np.isfinite(states["velocity"]).all()
