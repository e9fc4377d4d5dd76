"""Check of the start poses of scenario_runner's XML scenarios against the lanes of the simulator's towns.

The simulator's towns are look-alikes of CARLA's. A scenario is no valid test of the simulator if the look-alike has no
lane at its start, or one in another direction.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import cache
from pathlib import Path

import carla
from headless_simulator.towns.layouts import LAYOUTS

_FAR_M = 2.5  # to the centre of a lane of 3.5 to 4 m: at least half of a car is on the lane
_TURNED_DEG = 45.0


def opendrive_texts(maps: Path | None) -> Callable[[str], str | None]:
    """Return a function from a town's name to its OpenDRIVE text: a file of the folder, a built-in town, or None."""

    @cache
    def text_of(town: str) -> str | None:
        file = None if maps is None else maps / f"{town}.xodr"
        if file is not None and file.exists():
            return file.read_text(encoding="utf-8")
        layout = LAYOUTS.get(town.removesuffix("_Opt"))
        return None if layout is None else layout.plan().opendrive()

    return text_of


def maps_of(text_of: Callable[[str], str | None]) -> Callable[[str], carla.Map | None]:
    """Return a function that maps a town's name to its ``carla.Map``, parsed once; None without a road text."""

    @cache
    def map_of(town: str) -> carla.Map | None:
        text = text_of(town)
        return None if text is None else carla.Map(town, text)

    return map_of


def where_scenarios_begin(source: Path, map_of: Callable[[str], carla.Map | None]) -> dict[str, str]:
    """Return, by XML scenario, the reason why it does not start on a lane, or ""."""
    begins = {}
    for path in sorted(source.glob("srunner/examples/*.xml")):
        for node in ElementTree.parse(path).getroot().iter("scenario"):
            world_map, ego = map_of(node.attrib["town"]), node.find("ego_vehicle")
            if world_map is not None and ego is not None:
                location = carla.Location(*(float(ego.attrib[axis]) for axis in "xyz"))
                begins[f"{path.stem}/{node.attrib['name']}"] = _why_not_on_a_lane(
                    world_map, location, float(ego.attrib["yaw"])
                )
    return begins


def _why_not_on_a_lane(world_map: carla.Map, location: carla.Location, yaw_deg: float) -> str:
    waypoint = world_map.get_waypoint(location)
    lane = waypoint.transform
    away_m = carla.Location(location.x, location.y, lane.location.z).distance(lane.location)
    turned_deg = abs((lane.rotation.yaw - yaw_deg + 180) % 360 - 180)
    if away_m > _FAR_M:
        return f"begins {away_m:.0f} m from the nearest lane of the look-alike"
    if waypoint.is_junction:
        return "begins inside a junction of the look-alike"
    if turned_deg > _TURNED_DEG:
        return f"begins on a lane of the look-alike that leads {turned_deg:.0f} degrees aside"
    return ""
