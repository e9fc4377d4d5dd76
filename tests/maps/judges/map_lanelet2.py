"""Read a town's Lanelet2 file with Lanelet2's own loader, rules and routing graph, and compare it with the map.

Compared are the loader's complaints, lane successors in routing graph and map, distances of borders from the map's, and
latitudes and longitudes by WGS 84's formula.
"""

import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import lanelet2
import numpy as np
import shapely

from uavsim.maps.build import build
from uavsim.maps.lanelet2_file import osm_file
from uavsim.maps.opendrive.read import read_network
from uavsim.maps.vector_map import VectorMap

__all__ = ["compare_lanelets"]

_RULES = lanelet2.traffic_rules
_AXIS_M, _ECCENTRICITY2 = 6_378_137.0, 6.694379990141e-3


def compare_lanelets(data: bytes, name: str) -> dict[str, Any]:
    """Write and load a town's file; returns differences and counts."""
    town = build(read_network(data, name=name), name)
    begun = time.monotonic()
    text = osm_file(town)
    seconds = time.monotonic() - begun
    projector = lanelet2.projection.LocalCartesianProjector(lanelet2.io.Origin(*town.origin_deg_m))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "town.osm"
        path.write_bytes(text)
        loaded, complaints = lanelet2.io.loadRobust(str(path), projector)
    roads = {lanelet.id: lanelet for lanelet in loaded.laneletLayer if lanelet.attributes["subtype"] == "road"}
    cars = _RULES.create(_RULES.Locations.Germany, _RULES.Participants.VehicleCar)
    graph: Any = lanelet2.routing.RoutingGraph(loaded, cars)
    ways = _ways(roads, graph)
    expected_ways = _expected_ways(town)
    return {
        "seconds": round(seconds, 1),
        "megabytes": round(len(text) / 1e6, 1),
        "complaints": [str(one) for one in complaints],
        "graph_complaints": [str(one) for one in graph.checkValidity()],
        "ways": len(expected_ways),
        "missing": sorted(expected_ways - ways),
        "added": sorted(ways - expected_ways),
        "unconnected": sum("is not connected to" in warning for warning in town.warnings),
        "left_out": sum("left out" in warning and warning.startswith("lanelet2") for warning in town.warnings),
        "lane_changes": sum(graph.left(one) is not None or graph.right(one) is not None for one in roads.values()),
        "border_off_m": _border_off_m(town, roads),
        "geo_off_m": _geo_off_m(text, loaded, town.origin_deg_m),
        "limit_off_kmh": _limit_off_kmh(town, roads, cars),
        "lanelets": dict(Counter(lanelet.attributes["subtype"] for lanelet in loaded.laneletLayer)),
        "rules": dict(Counter(type(rule).__name__ for rule in loaded.regulatoryElementLayer)),
        "lights_of_lanes": sum(bool(one.trafficLights()) for one in roads.values()),
    }


def _ways(roads: dict[int, Any], graph: Any) -> set[tuple[str, str]]:
    """Return pairs of successive lanes in a routing graph; parts of a lane count as one."""
    found = set()
    for one in roads.values():
        for after in graph.following(one):
            pair = (one.attributes["uav_token"], roads[after.id].attributes["uav_token"])
            found |= {pair} if pair[0] != pair[1] else set()
    return found


def _expected_ways(town: VectorMap) -> set[tuple[str, str]]:
    changes = {
        token
        for token, row in zip(town.layer("lane_connector").tokens, town.layer("lane_connector").fields, strict=True)
        if row.get("uav_lane_change")
    }
    return {(a, b) for a, (_, after) in town.connectivity.items() for b in after if not {a, b} & changes}


def _border_off_m(town: VectorMap, roads: dict[int, Any]) -> float:
    """Return the largest distance of border points from the map's border, metres, with the parts in order."""
    parts: dict[str, list[Any]] = {}
    for one in sorted(roads.values(), key=lambda lanelet: lanelet.id):
        parts.setdefault(one.attributes["uav_token"], []).append(one)
    worst = 0.0
    for token, lanelets in parts.items():
        for side, border in zip(("leftBound", "rightBound"), town.borders[token], strict=True):
            lines = [[(p.x, p.y, p.z) for p in getattr(one, side)] for one in lanelets]
            points = np.array([*lines[0], *(point for line in lines[1:] for point in line[1:])])
            ours, theirs = shapely.linestrings(border.points_m[:, :2]), shapely.linestrings(points[:, :2])
            ends = np.abs(points[[0, -1]] - border.points_m[[0, -1]]).max()
            worst = max(worst, float(shapely.hausdorff_distance(ours, theirs)), float(ends))
    return worst


def _geo_off_m(text: bytes, loaded: Any, origin_deg_m: tuple[float, float, float]) -> float:
    """Return the distance of loaded points from their latitudes and longitudes by WGS 84's formula, metres."""
    nodes = {int(node.get("id", "0")): node for node in ElementTree.fromstring(text).iter("node")}
    points = list(loaded.pointLayer)[::7]
    point_nodes = [nodes[point.id] for point in points]
    heights = [float(tag.get("v", "0")) for node in point_nodes for tag in node if tag.get("k") == "ele"]
    lat, lon = (np.radians([float(node.get(key, "0")) for node in point_nodes]) for key in ("lat", "lon"))
    lat0, lon0 = np.radians(origin_deg_m[:2])
    away = _earth_fixed_m(lat, lon, np.array(heights)) - _earth_fixed_m(lat0, lon0, origin_deg_m[2])
    east = np.array([-np.sin(lon0), np.cos(lon0), 0.0])
    north = np.array([-np.sin(lat0) * np.cos(lon0), -np.sin(lat0) * np.sin(lon0), np.cos(lat0)])
    axes = np.stack([east, north, np.cross(east, north)])
    return float(np.abs(away @ axes.T - [(point.x, point.y, point.z) for point in points]).max())


def _earth_fixed_m(lat: Any, lon: Any, height_m: Any) -> Any:
    """Return (..., 3) earth-fixed positions of (...) latitudes, longitudes, degrees, and heights, metres."""
    normal = _AXIS_M / np.sqrt(1.0 - _ECCENTRICITY2 * np.sin(lat) ** 2)
    flat = (normal + height_m) * np.cos(lat)
    up = (normal * (1.0 - _ECCENTRICITY2) + height_m) * np.sin(lat)
    return np.stack([flat * np.cos(lon), flat * np.sin(lon), up], axis=-1)


def _limit_off_kmh(town: VectorMap, roads: dict[int, Any], cars: Any) -> float:
    limits = {
        token: row["uav_speed_limit_mps"] * 3.6
        for name in ("lane", "lane_connector")
        for token, row in zip(town.layer(name).tokens, town.layer(name).fields, strict=True)
        if "uav_speed_limit_mps" in row
    }
    limits_kmh = {one.id: limits.get(one.attributes["uav_token"]) for one in roads.values()}
    return max(
        (abs(cars.speedLimit(roads[key]).speedLimit - limit) for key, limit in limits_kmh.items() if limit is not None),
        default=0.0,
    )
