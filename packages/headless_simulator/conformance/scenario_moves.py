"""Alternative start poses for scenario_runner's XML scenarios on unsuitable roads of a look-alike town.

A scenario's start is in the coordinates of CARLA's town. Its class derives everything else from the lanes there: length of
the lane, neighbouring lanes, branches of the next junction. Therefore the nearest position of the look-alike that meets the
needs of the class is equivalent. The other actors of its XML move with the ego vehicle, onto the nearest lane.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import carla

__all__ = ["MOVED", "Need", "fits", "move_scenarios", "xml_of"]

MOVED = "_moved"  # suffix of a moved scenario: scenario_runner searches a name in all of its files
_AS_CARLAS = ("Town01", "Town02")  # their roads are at the positions of CARLA's
_EVERY_M = 10.0
_STEP_M = 5.0
_FINE_M = 0.5
_CROSSING_M = 45.0  # larger junctions are those of motorways
_OVER_ROAD_M = 0.5
_SIDES_DEG = {"left": (30, 135), "opposite": (135, 225), "right": (225, 330)}  # as scenario_runner distinguishes them


@dataclass(frozen=True)
class Need:
    """The needs of a class of scenarios on its starting lane.

    ``free_m`` metres without a junction; a junction within ``junction_m`` with an exit to the side ``turn`` and an entering
    lane from the side ``entry``; along ``free_m``, a lane of the same direction on the side ``beside`` ("oncoming": of the
    opposite direction on the left), and any lane on the side ``edge``.
    """

    free_m: float = 0.0
    junction_m: float = math.inf
    turn: str = ""
    entry: str = ""
    beside: str = ""
    edge: str = ""


NEEDS = {
    "Accident": Need(free_m=200, beside="left", edge="right"),
    "ChangeLane": Need(free_m=250, beside="left"),
    "ConstructionObstacle": Need(free_m=150, beside="left", edge="right"),
    "ControlLoss": Need(free_m=110),
    "CutIn_left": Need(free_m=400, beside="left"),
    "CutIn_right": Need(free_m=400, beside="right"),
    "DynamicObjectCrossing": Need(free_m=60),
    "FollowLeadingVehicle": Need(free_m=100, junction_m=300),
    "FollowLeadingVehicleWithObstacle": Need(free_m=95, junction_m=300),
    "FreeRide": Need(),
    "ManeuverOppositeDirection": Need(free_m=112, beside="oncoming"),
    "OppositeVehicleRunningRedLight": Need(free_m=20, junction_m=80, turn="straight", entry="right"),
    "OtherLeadingVehicle": Need(free_m=180, beside="left"),
    "SignalizedJunctionLeftTurn": Need(free_m=10, junction_m=80, turn="left", entry="opposite"),
    "SignalizedJunctionRightTurn": Need(free_m=10, junction_m=80, turn="right", entry="left"),
    "StationaryObjectCrossing": Need(free_m=90),
    "VehicleOpensDoorTwoWays": Need(free_m=110, beside="oncoming", edge="right"),
    "VehicleTurningLeft": Need(free_m=10, junction_m=80, turn="left"),
    "VehicleTurningRight": Need(free_m=10, junction_m=80, turn="right"),
}


def need_of(scenario: ElementTree.Element) -> Need | None:
    """Return the needs of a scenario's class, or None for a class without an entry in NEEDS."""
    kind = scenario.attrib["type"]
    if kind == "CutIn":  # it reads the side from its name
        kind += "_left" if "left" in scenario.attrib["name"].lower() else "_right"
    return NEEDS.get(kind)


def fits(start: carla.Waypoint, need: Need) -> bool:
    """Return whether a starting lane satisfies the needs of a scenario."""
    at, ahead_m = start, 0.0
    while not at.is_junction:
        if ahead_m <= need.free_m and not _has_beside(at, need):
            return False
        if ahead_m >= need.free_m and math.isinf(need.junction_m):
            return True
        ways = at.next(_STEP_M)
        ahead_m += _STEP_M
        if len(ways) != 1 and not (ways and ways[0].is_junction):
            return False
        if ahead_m > need.junction_m:
            return False
        if ways[0].is_junction:
            return ahead_m > need.free_m and _junction_fits(at, need)
        at = ways[0]
    return False


def _has_beside(at: carla.Waypoint, need: Need) -> bool:
    lanes = {"left": at.get_left_lane(), "right": at.get_right_lane()}
    if need.edge and lanes[need.edge] is None:
        return False
    if not need.beside:
        return True
    lane = lanes["right" if need.beside == "right" else "left"]
    same = lane is not None and lane.lane_id * at.lane_id > 0
    return lane is not None and lane.lane_type == carla.LaneType.Driving and same != (need.beside == "oncoming")


def _junction_fits(last: carla.Waypoint, need: Need) -> bool:
    """Check that a junction a step ahead has an exit to the needed side and a lane that enters from the needed side."""
    ways = last.next(_FINE_M)
    while not ways[0].is_junction:
        last, ways = ways[0], ways[0].next(_FINE_M)
    roads = {way.road_id for way in ways}
    pairs = ways[0].get_junction().get_waypoints(carla.LaneType.Driving)
    exits = [end for begin, end in pairs if begin.road_id in roads and _away_m(begin, end) < _CROSSING_M]
    turns_deg = [_yaw_from(last, end) for end in exits]
    leads = {
        "": True,
        "straight": any(abs(turn) < 30 for turn in turns_deg),
        "left": any(turn < -45 for turn in turns_deg),
        "right": any(turn > 45 for turn in turns_deg),
    }
    low, high = _SIDES_DEG.get(need.entry, (0, 361))
    return leads[need.turn] and any(low <= _yaw_from(last, begin) % 360 < high for begin, _ in pairs)


def _away_m(one: carla.Waypoint, other: carla.Waypoint) -> float:
    return float(one.transform.location.distance(other.transform.location))


def _yaw_from(last: carla.Waypoint, waypoint: carla.Waypoint) -> int:
    """Return the yaw difference of two waypoints, whole degrees in [-180, 180); right is positive."""
    return round(float(waypoint.transform.rotation.yaw - last.transform.rotation.yaw + 180) % 360 - 180)


def move_scenarios(
    source: Path, map_of: Callable[[str], carla.Map | None], off_lane: Mapping[str, str], into: Path
) -> dict[str, float | None]:
    """Write the XML of every moved scenario into a folder, with the file names of ``xml_of``.

    Args:
        source: checkout of scenario_runner.
        map_of: returns the map of a town, or None for an unknown one.
        off_lane: by scenario, the reason why it does not start on a lane, or "".
        into: output folder.

    Returns:
        The displacement of each, metres; None if the town has no suitable position.
    """
    moved = {}
    for path in sorted(source.glob("srunner/examples/*.xml")):
        for scenario in ElementTree.parse(path).getroot().iter("scenario"):
            name, town = f"{path.stem}/{scenario.attrib['name']}", scenario.attrib["town"]
            world_map, need = map_of(town), need_of(scenario)
            if world_map is None or need is None or not (off_lane.get(name) or _lacks(scenario, world_map, need)):
                continue
            moved[name] = _move(scenario, world_map, need)
            if moved[name] is not None:
                scenarios = ElementTree.Element("scenarios")
                scenarios.append(scenario)
                ElementTree.ElementTree(scenarios).write(xml_of(name, into))
    return moved


def xml_of(name: str, into: Path) -> Path:
    """Return the file of a moved scenario."""
    return into / f"{name.replace('/', '-')}{MOVED}.xml"


def _lacks(scenario: ElementTree.Element, world_map: carla.Map, need: Need) -> bool:
    """Return whether a scenario's starting lane in a look-alike town lacks a need of its class."""
    ego = scenario.find("ego_vehicle")
    is_carlas = scenario.attrib["town"].removesuffix("_Opt") in _AS_CARLAS
    return ego is not None and not is_carlas and not fits(world_map.get_waypoint(_place_of(ego)), need)


def _move(scenario: ElementTree.Element, world_map: carla.Map, need: Need) -> float | None:
    egos = scenario.findall("ego_vehicle")
    ego_start = _place_of(egos[0])
    start = next((waypoint for waypoint in _nearest_first(world_map, ego_start) if fits(waypoint, need)), None)
    if start is None:
        return None
    goal, yaw_deg = start.transform, float(egos[0].attrib["yaw"])
    scenario.attrib["name"] += MOVED
    for actor in [*egos, *scenario.findall("other_actor")]:
        offset = _turned(carla.Location(_place_of(actor) - ego_start), goal.rotation.yaw - yaw_deg)
        lane = start if actor is egos[0] else world_map.get_waypoint(carla.Location(goal.location + offset))
        over_road_m = float(actor.attrib["z"]) if actor.tag == "other_actor" else _OVER_ROAD_M
        location, turn = lane.transform.location, float(actor.attrib["yaw"]) - yaw_deg
        values = (location.x, location.y, location.z + over_road_m, goal.rotation.yaw + turn)
        actor.attrib.update({axis: f"{value:.3f}" for axis, value in zip(("x", "y", "z", "yaw"), values, strict=True)})
    return float(goal.location.distance(carla.Location(ego_start.x, ego_start.y, goal.location.z)))


def _nearest_first(world_map: carla.Map, target: carla.Location) -> Iterator[carla.Waypoint]:
    def away_m(waypoint: carla.Waypoint) -> float:
        return math.hypot(waypoint.transform.location.x - target.x, waypoint.transform.location.y - target.y)

    for waypoint in sorted(world_map.generate_waypoints(_EVERY_M), key=away_m):
        around = [waypoint, *waypoint.previous(1.0)]  # at a road's end, a client may find another road's lane
        if not any(one.is_junction for one in around):
            yield waypoint


def _place_of(actor: ElementTree.Element) -> carla.Location:
    return carla.Location(float(actor.attrib["x"]), float(actor.attrib["y"]), 0.0)


def _turned(offset: carla.Location, by_deg: float) -> carla.Location:
    cosine, sine = math.cos(math.radians(by_deg)), math.sin(math.radians(by_deg))
    return carla.Location(cosine * offset.x - sine * offset.y, sine * offset.x + cosine * offset.y, 0.0)
