"""Checks of vector maps in ``maps/expansion``: completeness, and the frame of the dataset.

Source: nuscenes-devkit, map_expansion/map_api.py: the assumptions of its reader.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import shapely

from uavsim.errors import DatasetError
from uavsim.files.parse import parse_json
from uavsim.typing import BoolArray, FloatArray, JsonDict
from uavsim.validate.dataset import follow
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

_FOLDER: Final = "maps/expansion"
_LARGEST_BYTES: Final = 1 << 31
_POLYGONS: Final = (
    "road_segment", "road_block", "lane", "lane_connector", "ped_crossing", "walkway", "stop_line", "carpark_area",
)  # fmt: skip
_BUILDINGS: Final = "building"  # an optional extension
_LINES: Final = ("road_divider", "lane_divider", "traffic_light")
_MOVING_MPS: Final = 2.0
_LEAST_SHARE: Final = 0.95


def maps_complete(evidence: Evidence) -> Iterator[Finding]:
    """Vector maps have every layer of nuScenes' expansion 1.3, and every token in them names a record."""
    towns = set(evidence.data["log"]["location"])
    found = {name.removesuffix(".json") for name in evidence.data.files.names(_FOLDER) if name.endswith(".json")}
    for town in sorted(towns - found) if towns & found else ():
        yield _finding(f"{_FOLDER}/{town}.json is missing, but other towns have vector maps")
    for town in sorted(found & towns):
        tables = _tables(evidence, town)
        for fault in ["is not a JSON object"] if tables is None else _faults(tables):
            yield _finding(f"{_FOLDER}/{town}.json {fault}")


def _finding(message: str) -> Finding:
    return Finding("maps.expansion", message)


def _tables(evidence: Evidence, town: str) -> JsonDict | None:
    try:
        tables = parse_json(evidence.data.files.read(f"{_FOLDER}/{town}.json", most_bytes=_LARGEST_BYTES))
    except (DatasetError, ValueError):
        return None
    return tables if isinstance(tables, dict) else None


def _faults(tables: JsonDict) -> Iterator[str]:
    try:
        if not (isinstance(tables["version"], str) and tables["version"] >= "1.3"):
            yield f"has version {tables['version']!r}, not 1.3"
        if min(tables["canvas_edge"]) <= 0:
            yield "has an empty canvas"
        tokens = {
            name: {row["token"] for row in tables[name]} for name in ("node", "line", "polygon", *_POLYGONS, *_LINES)
        }
        buildings = tables.get(_BUILDINGS, [])
        upside_down = sum(row["uav_height_m"][0] > row["uav_height_m"][1] for row in buildings)
        if upside_down:
            yield f"has {upside_down} buildings whose roof lies below their ground"
        lanes = tokens["lane"] | tokens["lane_connector"]
        for kind, named, known in _references(tables, tokens, lanes):
            lost = sorted(set(named) - known)
            if lost:
                yield f"names {len(lost)} unknown {kind}, first {lost[0]}"
        unled = lanes - tables["arcline_path_3"].keys()
        if unled:
            yield f"has {len(unled)} lanes without a centre line, first {min(unled)}"
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        yield f"is not nuScenes' map expansion: {type(error).__name__}: {error}"


def _references(tables: JsonDict, tokens: dict[str, set[str]], lanes: set[str]) -> Iterator[tuple[str, Any, set[str]]]:
    rings = [
        ring
        for row in tables["polygon"]
        for ring in (row["exterior_node_tokens"], *(h["node_tokens"] for h in row["holes"]))
    ]
    yield (
        "nodes",
        (node for ring in (*rings, *(row["node_tokens"] for row in tables["line"])) for node in ring),
        tokens["node"],
    )
    areas = [key for row in tables["drivable_area"] for key in row["polygon_tokens"]]
    rows = [row for name in (*_POLYGONS, _BUILDINGS) for row in tables.get(name, [])]
    yield "polygons", (*areas, *(row["polygon_token"] for row in rows)), tokens["polygon"]
    yield "lines", (row["line_token"] for name in _LINES for row in tables[name]), tokens["line"]
    links = tables["connectivity"]
    yield "lanes", (*links, *(key for row in links.values() for key in (*row["incoming"], *row["outgoing"]))), lanes
    yield "lanes", tables["arcline_path_3"], lanes
    lights = (key for row in tables["stop_line"] for key in row["traffic_light_tokens"])
    yield "traffic lights", lights, tokens["traffic_light"]


def vehicles_on_maps(evidence: Evidence) -> Iterator[Finding]:
    """Driving vehicles are on the drivable area of their town's vector map: its frame is the dataset's."""
    data, boxes = evidence.data, evidence.boxes
    assert boxes.velocity_mps is not None  # of the check's needs
    moving = np.linalg.norm(boxes.velocity_mps, axis=1) > _MOVING_MPS
    moving &= data.of_category(lambda name: name.startswith("vehicle.")) & ~data.flies & boxes.usable & ~data.placed
    log = follow(data.scene_of_annotation, data["scene"]["log_token"])
    for row, town in enumerate(data["log"]["location"]):
        points_m = boxes.centre_m[moving & (log == row), :2]
        tables = _tables(evidence, town) if len(points_m) and f"{town}.json" in data.files.names(_FOLDER) else None
        inside = None if tables is None else _on_areas(tables, points_m)
        if inside is not None and inside.mean() < _LEAST_SHARE:
            share = f"{100 * inside.mean():.1f} %"
            message = f"{share} of the boxes of driving vehicles are on the drivable area of {_FOLDER}/{town}.json"
            yield Finding("maps.frame", message, numbers={"boxes": len(points_m), "share": float(inside.mean())})


def _on_areas(tables: JsonDict, points_m: FloatArray) -> BoolArray | None:
    """Return (N,) bool, (N, 2) points in the drivable area; None for a damaged map."""
    try:
        nodes_m = {row["token"]: (row["x"], row["y"]) for row in tables["node"]}
        polygons = {row["token"]: row for row in tables["polygon"]}
        inside = np.zeros(len(points_m), bool)
        for polygon in (polygons[key] for row in tables["drivable_area"] for key in row["polygon_tokens"]):
            rings = (polygon["exterior_node_tokens"], *(hole["node_tokens"] for hole in polygon["holes"]))
            outer, *holes = [[nodes_m[node] for node in ring] for ring in rings]
            if len(outer) > 2:
                area = shapely.Polygon(outer, [hole for hole in holes if len(hole) > 2])
                inside |= shapely.contains_xy(area, points_m)
    except (KeyError, OverflowError, TypeError, ValueError, shapely.errors.ShapelyError):
        return None  # ``maps_complete`` reports it
    return inside
