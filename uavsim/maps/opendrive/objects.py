"""Objects and signals of a road."""

import numpy as np

from uavsim.maps.opendrive.model import Fault, Road, RoadObject, Signal
from uavsim.maps.opendrive.numbers import Element, Faulty, number
from uavsim.typing import FloatArray


def read_objects(road: Road, element: Element, faults: list[Fault]) -> None:
    """Add the objects of a road's element to the road; faulty ones become faults."""
    for row in element.iterfind("objects/object"):
        try:
            road.objects.append(_object(row))
        except Faulty as error:
            faults.append(Fault(road.id, error.s_m, f"object {row.get('id')} is left out: {error}"))


def _object(row: Element) -> RoadObject:
    outline, on_road = _outline(row)
    width = number(row, "width", 0.0)
    radius = number(row, "radius", 0.0)
    return RoadObject(
        id=row.get("id", ""),
        type=row.get("type", ""),
        name=row.get("name", ""),
        s_m=number(row, "s"),
        t_m=number(row, "t"),
        z_m=number(row, "zOffset", 0.0),
        heading_rad=number(row, "hdg", 0.0),
        size_m=(number(row, "length", 2 * radius), width or 2 * radius),
        outline=outline,
        on_road=on_road,
    )


def _outline(row: Element) -> tuple[FloatArray, bool]:
    element = row.find("outlines/outline")
    element = row.find("outline") if element is None else element
    if element is None:
        return np.zeros((0, 3)), False
    local = [[number(c, "u"), number(c, "v"), number(c, "z", 0.0)] for c in element.iterfind("cornerLocal")]
    if local:
        return np.array(local), False
    road = [[number(c, "s"), number(c, "t"), number(c, "dz", 0.0)] for c in element.iterfind("cornerRoad")]
    return np.array(road, dtype=np.float64).reshape(-1, 3), True


def read_signals(road: Road, element: Element, faults: list[Fault]) -> None:
    """Add the signals and signal references of a road's element to the road; faulty ones become faults."""
    for row in (*element.iterfind("signals/signal"), *element.iterfind("signals/signalReference")):
        try:
            road.signals.append(_signal(row))
        except Faulty as error:
            faults.append(Fault(road.id, error.s_m, f"signal {row.get('id')} is left out: {error}"))


def _signal(row: Element) -> Signal:
    lanes = [(int(number(v, "fromLane")), int(number(v, "toLane"))) for v in row.iterfind("validity")]
    return Signal(
        id=row.get("id", ""),
        type=row.get("type", ""),
        name=row.get("name", ""),
        s_m=number(row, "s"),
        t_m=number(row, "t"),
        z_m=number(row, "zOffset", 0.0),
        heading_rad=number(row, "hOffset", 0.0),
        orientation=row.get("orientation", "none"),
        size_m=(number(row, "width", 0.0), number(row, "height", 0.0)),
        lanes=[(min(pair), max(pair)) for pair in lanes],
        dynamic=row.get("dynamic") == "yes",
        reference=row.tag == "signalReference",
    )


def outline_on_map(road: Road, road_object: RoadObject) -> FloatArray:
    """Return (N, 3) map points, metres, of an object's outline, or else of the corners of its rectangle."""
    if road_object.on_road:
        return road.xyz(road_object.outline[:, 0], road_object.outline[:, 1], road_object.outline[:, 2])
    corners = road_object.outline
    if not len(corners):
        long, wide = road_object.size_m[0] / 2, road_object.size_m[1] / 2
        corners = np.array([[-long, -wide, 0.0], [long, -wide, 0.0], [long, wide, 0.0], [-long, wide, 0.0]])
    s = np.array([road_object.s_m])
    origin = road.xyz(s, np.array([road_object.t_m]), road_object.z_m)[0]
    heading = road.heading_rad(road_object.s_m) + road_object.heading_rad
    cos, sin = np.cos(heading), np.sin(heading)
    u, v, z = corners.T
    return np.stack([origin[0] + u * cos - v * sin, origin[1] + u * sin + v * cos, origin[2] + z], axis=1)
