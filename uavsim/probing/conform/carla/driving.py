"""CARLA probes of motion: controls of a car and a walker, Ackermann's controller, the Traffic Manager."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np

from uavsim.config.deadlines import Deadlines
from uavsim.probing.conform.answers import Answer
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.carla.site import STEP_S, Site, shifted
from uavsim.simulate.carla.manager_port import ManagerPort, free_port
from uavsim.simulate.hang_watch import HangWatch
from uavsim.typing import FloatArray

_CAR: Final = "vehicle.tesla.model3"
_CARS: Final = 10
_TICKS: Final = 200


def controls(site: Site) -> Iterator[Answer]:
    """Drive one car for two seconds and brake, twice; request 4 m/s from Ackermann's controller; let a walker walk."""
    ask = Ask("controls")
    runs = [_pedal(site), _pedal(site)]
    speeds, way_m, brake_m = runs[0]
    yield ask.near("speed after 2 s of full throttle", speeds, 1.0, unit="m/s")
    yield ask.near("way in these 2 s", way_m, 1.5, unit="m")
    yield ask.near("way of full braking from there", brake_m, 2.0, unit="m")
    yield ask.at_most(
        "difference of a second try in these ways",
        max(abs(way_m - runs[1][1]), abs(brake_m - runs[1][2])),
        0.05,
        unit="m",
    )
    yield ask.near("speed 4 s after Ackermann's 4 m/s", _ackermann(site), 0.5, unit="m/s")
    yield ask.near("way of a walker in 2 s at 1.5 m/s", _walk(site), 0.3, unit="m")


def _on_road(site: Site, blueprint: str, point: int) -> Any:
    spawn_point = site.spawn_points[point % len(site.spawn_points)]
    body = site.spawn(blueprint, carla.Transform(shifted(spawn_point.location, z_m=0.3), spawn_point.rotation))
    for _ in range(20):  # it falls onto its wheels
        site.tick()
    return body


def _pedal(site: Site) -> tuple[float, float, float]:
    car = _on_road(site, _CAR, 0)
    start = car.get_location()
    car.apply_control(carla.VehicleControl(throttle=1.0))
    for _ in range(40):
        site.tick()
    middle, speed = car.get_location(), _speed(car)
    car.apply_control(carla.VehicleControl(brake=1.0))
    for _ in range(60):
        site.tick()
    distances = speed, start.distance(middle), middle.distance(car.get_location())
    site.clear()
    site.tick()
    return distances


def _ackermann(site: Site) -> float:
    car = _on_road(site, _CAR, 0)
    car.apply_ackermann_control(carla.VehicleAckermannControl(speed=4.0, acceleration=2.0))
    for _ in range(80):
        site.tick()
    speed = _speed(car)
    site.clear()
    site.tick()
    return speed


def _walk(site: Site) -> float:
    walker = _on_road(site, "walker.pedestrian.0001", 1)
    start = walker.get_location()
    walker.apply_control(
        carla.WalkerControl(direction=site.spawn_points[1 % len(site.spawn_points)].get_forward_vector(), speed=1.5)
    )
    for _ in range(40):
        site.tick()
    end = walker.get_location()
    site.clear()
    return float(np.hypot(end.x - start.x, end.y - start.y))


def _speed(car: Any) -> float:
    velocity = car.get_velocity()
    return float(np.linalg.norm([velocity.x, velocity.y, velocity.z]))


def traffic(site: Site) -> Iterator[Answer]:
    """Let the Traffic Manager drive ten cars for ten seconds."""
    ask = Ask("Traffic Manager")
    port = free_port()
    manager = site.client.get_trafficmanager(port)
    closed = ManagerPort(port)  # closes the port, which libcarla opens to the network
    manager.set_synchronous_mode(True)
    manager.set_random_device_seed(7)
    try:
        with HangWatch(_Ticked(site, closed), lambda _: None, limit_s=Deadlines().hang_s) as watch:
            site.ticked = lambda: watch.note("fly")
            track = _driven(site, port)
    finally:
        closed.close()
        manager.set_synchronous_mode(False)
    moves_m = np.linalg.norm(np.diff(track, axis=0), axis=2)
    off_m = [_off_lane(site, position_m) for position_m in track[40::8].reshape(-1, 3)]
    yield ask.at_least(f"cars of {_CARS} that drive", int((moves_m.sum(axis=0) > 2.0).sum()), 6)
    yield ask.at_most("longest move in a tick", float(moves_m[20:].max()), 20 * STEP_S, unit="m")
    yield ask.at_most("distance to the lane's middle, 95th percentile", float(np.percentile(off_m, 95)), 1.0, unit="m")
    yield ask.uncompared("mean speed", float(moves_m[40:].mean() / STEP_S), unit="m/s")


@dataclass(frozen=True, slots=True)
class _Ticked:
    """Frame and wake-up of the world for the hang watch: the client may lose the Traffic Manager's wake-up."""

    site: Site
    port: ManagerPort

    @property
    def frame(self) -> int:
        return int(self.site.world.get_snapshot().frame)

    def wake(self) -> bool:
        return self.port.wake()


def _driven(site: Site, port: int) -> FloatArray:
    """Return (ticks, cars, 3) places of cars of the Traffic Manager, metres."""
    cars: list[Any] = []
    try:
        for point in site.spawn_points[2:]:
            if len(cars) < _CARS:
                cars.append(site.spawn(_CAR, carla.Transform(shifted(point.location, z_m=0.3), point.rotation)))
        for car in cars:
            car.set_autopilot(True, port)
        return np.stack([_positions_m(site, cars) for _ in range(_TICKS)])
    finally:
        for car in cars:
            car.set_autopilot(False, port)
        site.tick()
        site.clear()
        site.tick()


def _positions_m(site: Site, cars: list[Any]) -> FloatArray:
    site.tick()
    snapshot = site.world.get_snapshot()
    positions_m = []
    for car in cars:
        state: Any = snapshot.find(car.id)
        point = state.get_transform().location if state is not None else car.get_location()
        positions_m.append([point.x, point.y, point.z])
    return np.array(positions_m)


def _off_lane(site: Site, position_m: FloatArray) -> float:
    point = carla.Location(*(float(v) for v in position_m))
    lane: Any = site.town.get_waypoint(point)
    return (
        float(np.hypot(lane.transform.location.x - point.x, lane.transform.location.y - point.y))
        if lane is not None
        else 99.0
    )
