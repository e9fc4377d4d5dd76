"""Drive the ego vehicle of scenario_runner: ``python scenario_driver.py PORT [--turn left|right] [--obey-lights]``.

It imports ``agents`` of CARLA's PythonAPI and nothing of this project, so it runs in the environment of scenario_runner.
CARLA's own LocalPlanner steers along the lane, and takes the turn that a scenario is about at the first junction. The
vehicle stops for vehicles, walkers and props on the way that it needs to stop, or that will be there when it comes. It
drives on at red, as scenario_runner's own cars do, unless asked not to.
It goes on until it is ended: worlds are loaded and ego vehicles come and go meanwhile.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import carla
from agents.navigation.local_planner import LocalPlanner, RoadOption

_SPEED_KMH = 30
_AHEAD = {"base_min_distance": 2.0, "distance_ratio": 0.2}  # metres, seconds: with CARLA's default it cuts corners
_BRAKE_MPS2 = 6.0  # less than a full brake gives
_REACTION_S = 0.3
_CLEAR_M = 5.0  # gap to an obstacle after stopping
_CROSSING_M = 12.0  # shortest range of the search for crossing traffic
_STANDS_MPS = 0.5  # largest range
_SLOW_MPS = 3.0  # lower bound of the ego speed, so that the vehicle starts on a free path
_ASIDE_M = 0.3  # in addition to the vehicle's half width
_LOW_M = 0.21  # the vehicle drives over lower objects, such as dirt
_ACROSS_MPS2 = 2.5
_BEND_STEPS = 8  # waypoints ahead with bends that limit the speed
_STEP_M = 2.0  # between the waypoints of a path
_WAY_M = 800.0
_PATIENCE_TICKS = {
    "static.": 100,
    "vehicle.": 400,
}  # waiting time behind a static obstacle before passing it
_ROUND_STEPS = (3, 25)  # range of waypoints ahead for passing it
_EXIT_M = 25.0  # from the fork to the points at which its branches are compared
_NEAR_M = 50.0
_TICK_TIMEOUT_S = 30.0
_LOOK_EVERY = 10  # ticks between two searches for the ego vehicle, each of which lists all actors
_BETWEEN_SCENARIOS = (RuntimeError, IndexError, AttributeError)  # raised for destroyed actors


def hero_of(world: carla.World) -> carla.Vehicle | None:
    """Find the ego vehicle."""
    vehicles = world.get_actors().filter("vehicle.*")
    return next((vehicle for vehicle in vehicles if vehicle.attributes.get("role_name") == "hero"), None)


def turned_deg(fork: carla.Waypoint, way: carla.Waypoint) -> float:
    """Return the turn of a branch from its fork, degrees; right is positive."""
    exits = way.next(_EXIT_M) or [way]
    return float((exits[0].transform.rotation.yaw - fork.transform.rotation.yaw + 180) % 360 - 180)


def chosen(fork: carla.Waypoint, ways: list[carla.Waypoint], turn: str) -> carla.Waypoint:
    """Return the branch furthest to the side of ``turn``, or the straightest."""
    by_turn = {turned_deg(fork, way): way for way in reversed(ways)}
    return by_turn[min(by_turn) if turn == "left" else max(by_turn) if turn == "right" else min(by_turn, key=abs)]


def way_ahead(start: carla.Waypoint, turn: str) -> list[carla.Waypoint]:
    """Return waypoints along the lane; at the first fork to the side of ``turn``, afterwards as straight as possible."""
    way = [start]
    while len(way) * _STEP_M < _WAY_M:
        ways = way[-1].next(_STEP_M)
        if not ways:
            break
        way.append(chosen(way[-1], ways, turn))
        if len(ways) > 1:
            turn = ""
    return way


class Driver:
    """One ego vehicle's driver."""

    def __init__(self, hero: carla.Vehicle, world: carla.World, *, turn: str, obeys_lights: bool) -> None:
        self._hero, self._town, self._obeys_lights = hero, world.get_map(), obeys_lights
        self._planner: Any = LocalPlanner(hero, dict(_AHEAD), map_inst=self._town)
        self._others: list[carla.Actor] = []
        self._way: list[carla.Waypoint] = []
        self._passed, self._stops_for = 0, ""
        self._stood_ticks, self._stands_still = 0, False
        self._start_way(turn)

    def _start_way(self, turn: str) -> None:
        self._follow(way_ahead(self._town.get_waypoint(self._hero.get_location()), turn))

    def _follow(self, way: list[carla.Waypoint]) -> None:
        self._way, self._passed = way, 0
        self._planner.set_global_plan([(waypoint, RoadOption.LANEFOLLOW) for waypoint in self._way])

    def look(self, actors: Iterable[carla.Actor]) -> None:
        """Record possible obstacles."""
        here = self._hero.get_location()
        bodies = [actor for actor in actors if actor.type_id.startswith(("vehicle.", "walker.", "static.prop."))]
        tall = [actor for actor in bodies if 2 * actor.bounding_box.extent.z >= _LOW_M and actor.id != self._hero.id]
        self._others = [actor for actor in tall if actor.get_location().distance(here) < _NEAR_M]

    def control(self) -> carla.VehicleControl:
        """Return the control for this tick."""
        if self._planner.done():
            self._start_way("")
        self._planner.set_speed(self._speed_kmh())
        control: carla.VehicleControl = self._planner.run_step()
        reason = "a red light" if self._is_red() else self._in_the_way()
        if reason:
            control.throttle, control.brake = 0.0, 1.0
        patience = next((ticks for kind, ticks in _PATIENCE_TICKS.items() if reason.startswith(kind)), None)
        self._stood_ticks = self._stood_ticks + 1 if patience is not None and self._stands_still else 0
        if patience is not None and self._stood_ticks > patience:
            self._drive_round()
        if reason != self._stops_for:
            print(f"stops for {reason}" if reason else "drives on", flush=True)
            self._stops_for = reason
        return control

    def _drive_round(self) -> None:
        """Route the path over the left lane, if there is one, past a static obstacle."""
        begin, end = (self._passed + steps for steps in _ROUND_STEPS)
        lanes = [waypoint.get_left_lane() for waypoint in self._way[begin:end]]
        beside = [lane for lane in lanes if lane is not None and lane.lane_type == carla.LaneType.Driving]
        if len(beside) == len(lanes):
            self._follow([*self._way[self._passed : self._passed + 1], *beside, *self._way[end + _ROUND_STEPS[0] :]])
        self._stood_ticks = 0

    def _speed_kmh(self) -> float:
        """Return the speed, km/h, that limits lateral acceleration in the bends ahead."""
        locations = [way.transform.location for way in self._way[self._passed : self._passed + _BEND_STEPS]]
        courses = [
            math.atan2(after.y - location.y, after.x - location.x) for location, after in itertools.pairwise(locations)
        ]
        bends = [abs(math.remainder(after - course, math.tau)) for course, after in itertools.pairwise(courses)]
        curvature = max(bends, default=0.0) / _STEP_M
        return float(min(_SPEED_KMH, 3.6 * math.sqrt(_ACROSS_MPS2 / max(curvature, 1e-6))))

    def _is_red(self) -> bool:
        red = carla.TrafficLightState.Red
        return self._obeys_lights and self._hero.is_at_traffic_light() and self._hero.get_traffic_light_state() == red

    def _in_the_way(self) -> str:
        """Return the type of a current or predicted obstacle within the stopping distance, or ""."""
        speed_mps, body = self._hero.get_velocity().length(), self._hero.bounding_box.extent
        stops_m = speed_mps * _REACTION_S + speed_mps**2 / (2 * _BRAKE_MPS2) + body.x + _CLEAR_M
        crossing_s = [0.3 * step for step in range(1 + round(2 * body.x / max(speed_mps, _SLOW_MPS) / 0.3))]
        bodies = [(o.get_transform(), o.get_velocity(), o.bounding_box, o.type_id) for o in self._others]
        for location, way_m in self._locations(max(stops_m, _CROSSING_M)):
            reached_s = max(way_m - body.x, 0.0) / max(speed_mps, _SLOW_MPS)
            passes_s = [reached_s + more for more in crossing_s]
            for pose, velocity, box, name in bodies:
                now_s = [0.0] if way_m <= stops_m else []
                for later in now_s + (passes_s if velocity.length() > _STANDS_MPS else []):
                    location_then = carla.Location(
                        location.x - later * velocity.x, location.y - later * velocity.y, location.z
                    )
                    if beside_m(location_then, pose, box) < body.y + _ASIDE_M:
                        self._stands_still = velocity.length() <= _STANDS_MPS
                        return str(name)
        return ""

    def _locations(self, within_m: float) -> Iterator[tuple[carla.Location, float]]:
        here = self._hero.get_location()
        away_m = [waypoint.transform.location.distance(here) for waypoint in self._way[self._passed :]]
        while len(away_m) > 1 and away_m[1] < away_m[0]:
            del away_m[0]
            self._passed += 1
        for waypoint, metres in zip(self._way[self._passed :], away_m, strict=True):
            if metres > within_m:
                return
            if metres >= self._hero.bounding_box.extent.x:
                yield waypoint.transform.location, metres


def beside_m(location: carla.Location, pose: carla.Transform, box: carla.BoundingBox) -> float:
    """Return the horizontal distance, metres, from a location to a box on a body; 0 inside it."""
    east, south, yaw = location.x - pose.location.x, location.y - pose.location.y, math.radians(pose.rotation.yaw)
    ahead = math.cos(yaw) * east + math.sin(yaw) * south - box.location.x
    aside = math.cos(yaw) * south - math.sin(yaw) * east - box.location.y
    return math.hypot(max(abs(ahead) - box.extent.x, 0.0), max(abs(aside) - box.extent.y, 0.0))


def main() -> None:
    """Drive the current ego vehicle, tick by tick."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("port", type=int)
    parser.add_argument("--turn", choices=("left", "right"), default="", help="turn at the first junction")
    parser.add_argument("--obey-lights", action="store_true")
    options = parser.parse_args()
    client = carla.Client("127.0.0.1", options.port)
    client.set_timeout(_TICK_TIMEOUT_S)
    driver, hero, world_id, ticks = None, None, -1, 0
    while True:
        try:
            world = client.get_world()
            world.wait_for_tick(_TICK_TIMEOUT_S)
            ticks += 1
            if hero is None or world.id != world_id or ticks % _LOOK_EVERY == 0:
                found = hero_of(world)
                if found is None or hero is None or (found.id, world.id) != (hero.id, world_id):
                    driver = None
                hero, world_id = found, world.id
                if hero is not None:
                    driver = driver or Driver(hero, world, turn=options.turn, obeys_lights=options.obey_lights)
                    driver.look(world.get_actors())
            if hero is not None and driver is not None:
                hero.apply_control(driver.control())
        except _BETWEEN_SCENARIOS as error:
            driver = hero = None
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
