"""Reader of OpenDRIVE 1.x into a ``Network``; invalid elements are refused with their line.

Source: ASAM OpenDRIVE 1.4 to 1.8. Ignored, because the simulator does not show them: railroad stations, junction
surfaces, lateral shapes (such roads are flat across) and OpenCRG surfaces.
"""

import re
from typing import Final

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.bounds import check_counts
from headless_simulator.towns.client_reading import check_client_reading
from headless_simulator.towns.limits import CLIENT, Limits
from headless_simulator.towns.network import (
    PAVED,
    SHORTEST_SECTION_M,
    Cubics,
    Lane,
    Link,
    Mark,
    Network,
    Road,
    RoadObject,
    RoadSignal,
    Section,
)
from headless_simulator.towns.planview import KINDS, Geometry
from headless_simulator.towns.strips import RAISED
from headless_simulator.towns.xml_nodes import Node, parse_xml

_KMH: Final = {"km/h": 1.0, "mph": 1.609344, "m/s": 3.6, "": 3.6}
_LANE_KINDS: Final = {kind.lower(): kind for kind in PAVED | RAISED}  # the client accepts them in any case
_NO_LIMIT_KMH: Final = 130.0
_LONGEST_M: Final = 100_000.0


def read_network(data: bytes, source: str, limits: Limits = CLIENT) -> Network:
    """Read an OpenDRIVE document.

    Args:
        data: the file's bytes.
        source: file name for messages.
        limits: size limits.

    Raises:
        OpenDriveRefused: the document is not well-formed, or has an invalid element.
    """
    root = parse_xml(data, source, most_elements=limits.elements)
    if root.tag != "OpenDRIVE":
        raise root.refuse("this is not an OpenDRIVE file; its root element must be <OpenDRIVE>")
    roads: dict[str, Road] = {}
    nodes: dict[str, Node] = {}
    for node in root.all("road"):
        road = _road(node)
        if road.number in roads:
            raise node.refuse(f"two roads have the id {road.number!r}")
        roads[road.number], nodes[road.number] = road, node
    if not any(
        lane.kind == "driving" for road in roads.values() for part in road.sections for lane in part.lanes.values()
    ):
        raise root.refuse("the map has no road with a driving lane")
    check_counts(root, roads, limits)
    junctions = {node.word("id"): node for node in root.all("junction")}
    _check_links(roads, nodes, junctions)
    check_client_reading(roads, nodes, list(root.all("junction")))
    return Network(
        roads=roads,
        controllers={
            node.word("id"): tuple(control.word("signalId") for control in node.all("control"))
            for node in root.all("controller")
        },
        junction_controllers={number: _controllers_of(node) for number, node in junctions.items()},
        georeference=_georeference(root),
    )


def _controllers_of(junction: Node) -> tuple[str, ...]:
    rows = [(node.number("sequence", 0.0), node.word("id")) for node in junction.all("controller")]
    return tuple(number for _, number in sorted(rows, key=lambda row: row[0]))


def _check_links(roads: dict[str, Road], nodes: dict[str, Node], junctions: dict[str, Node]) -> None:
    for number, road in roads.items():
        for end, link in (("predecessor", road.predecessor), ("successor", road.successor)):
            if link is None:
                continue
            known_elements = roads if link.element == "road" else junctions
            if link.number not in known_elements:
                raise nodes[number].refuse(
                    f"the {end} of road {number!r} is {link.element} {link.number!r}, not in the file"
                )
    for junction in junctions.values():
        for connection in junction.all("connection"):
            for name in ("incomingRoad", "connectingRoad"):
                value = connection.word(name, "")
                if value and value not in roads:
                    raise connection.refuse(f"{name} {value!r} is not in the file")


def _georeference(root: Node) -> tuple[float, float]:
    header = root.first("header")
    node = header.first("geoReference") if header else None
    text = node.text if node else ""
    latitude, longitude = (re.search(rf"\+{name}=([-+0-9.eE]+)", text) for name in ("lat_0", "lon_0"))
    if latitude is None or longitude is None:
        return 42.0, 2.0  # as the client's own reader
    return float(latitude.group(1)), float(longitude.group(1))


def _road(node: Node) -> Road:
    number, length = node.word("id"), node.number("length")
    if not 0 <= length <= _LONGEST_M:
        raise node.refuse(f"length is {length}; it must be between 0 and {_LONGEST_M:.0f} m")
    lanes = node.first("lanes")
    if lanes is None:
        raise node.refuse(f"road {number!r} has no <lanes>")
    parts = sorted(lanes.all("laneSection"), key=lambda part: part.number("s"))
    ends = [part.number("s") for part in parts[1:]] + [length]
    sections = tuple(
        _section(part, is_empty=end - part.number("s") < SHORTEST_SECTION_M)
        for part, end in zip(parts, ends, strict=False)
    )
    if not sections:
        raise lanes.refuse(f"road {number!r} has no <laneSection>")
    junction = node.word("junction", "-1")
    link = node.first("link")
    signals, objects = node.first("signals"), node.first("objects")
    return Road(
        number=number,
        length_m=length,
        junction="" if junction == "-1" else junction,
        plan=_plan(node, number, length),
        elevation=_profile(node, "elevationProfile", "elevation"),
        superelevation=_profile(node, "lateralProfile", "superelevation"),
        lane_offset=Cubics.of([_cubic(child, "s") for child in lanes.all("laneOffset")]),
        sections=sections,
        speeds=_speeds(node),
        signals=tuple(_signal(child) for child in signals.children if "ignal" in child.tag) if signals else (),
        objects=tuple(_object(child) for child in objects.all("object")) if objects else (),
        predecessor=_link(link, "predecessor"),
        successor=_link(link, "successor"),
        left_hand=node.word("rule", "RHT") == "LHT",
    )


def _link(node: Node | None, name: str) -> Link | None:
    child = node.first(name) if node else None
    if child is None:
        return None
    return Link(child.word("elementType", "road"), child.word("elementId"), child.word("contactPoint", "start"))


def _cubic(node: Node, start: str) -> tuple[float, float, float, float, float]:
    s, a, b, c, d = (node.number(name, 0.0) for name in (start, "a", "b", "c", "d"))
    return s, a, b, c, d


def _profile(road: Node, profile: str, record: str) -> Cubics:
    node = road.first(profile)
    return Cubics.of([_cubic(child, "s") for child in node.all(record)] if node else [])


def _plan(road: Node, number: str, length_m: float) -> tuple[Geometry, ...]:
    plan = road.first("planView")
    if plan is None:
        raise road.refuse(f"road {number!r} has no <planView>")
    pieces = sorted((_geometry(node) for node in plan.all("geometry")), key=lambda piece: piece.s)
    if not pieces:
        raise plan.refuse(f"road {number!r} has no <geometry>")
    if length_m > 0:
        pieces = [piece for piece in pieces if piece.length_m > 0] or pieces
    return tuple(pieces)


def _geometry(node: Node) -> Geometry:
    length = node.number("length")
    if length < 0 or length > _LONGEST_M:
        raise node.refuse(f"length is {length}; it must be between 0 and {_LONGEST_M:.0f} m")
    shape = next((child for child in node.children if child.tag in KINDS), None)
    if shape is None:
        raise node.refuse(f"it has no known shape; use one of {', '.join(KINDS)}")
    values: tuple[float, ...] = ()
    if shape.tag == "arc":
        values = (shape.number("curvature"),)
    elif shape.tag == "spiral":
        values = (shape.number("curvStart"), shape.number("curvEnd"))
    elif shape.tag == "poly3":
        values = tuple(shape.number(name) for name in "abcd")
    elif shape.tag == "paramPoly3":
        values = tuple(shape.number(name + axis) for axis in "UV" for name in "abcd")
        values += (length if shape.word("pRange", "normalized") == "arcLength" else 1.0,)
    x, y, heading = (node.number(name) for name in ("x", "y", "hdg"))
    if max(abs(x), abs(y)) > 1e6:
        raise node.refuse(f"it starts at x {x:.0f}, y {y:.0f}; move the map nearer than 1000 km to its origin")
    return Geometry(node.number("s"), x, y, heading, length, shape.tag, values)


def _section(node: Node, *, is_empty: bool) -> Section:
    lanes: dict[int, Lane] = {}
    for side in ("left", "center", "right"):
        group = node.first(side)
        for child in group.all("lane") if group else ():
            lane = _lane(child, is_empty=is_empty)
            if lane.number in lanes:
                raise child.refuse(f"two lanes {lane.number} in one lane section")
            if (lane.number > 0, lane.number < 0) != (side == "left", side == "right"):
                raise child.refuse(f"lane {lane.number} cannot be in <{side}>")
            lanes[lane.number] = lane
    for sign in (1, -1):
        numbers = sorted(abs(number) for number in lanes if number * sign > 0)
        if numbers != list(range(1, len(numbers) + 1)):
            raise node.refuse(
                f"lanes must be numbered without gaps from the centre; found {[sign * n for n in numbers]}"
            )
    return Section(node.number("s"), lanes)


def _widths(node: Node, tag: str, *, is_empty: bool) -> Cubics:
    """Read widths or borders; for a section of zero length, with arbitrary slopes, only the start values."""
    records = list(node.all(tag))
    if is_empty:
        return Cubics.of([(child.number("sOffset", 0.0), child.number("a", 0.0), 0.0, 0.0, 0.0) for child in records])
    return Cubics.of([_cubic(child, "sOffset") for child in records])


def _lane(node: Node, *, is_empty: bool) -> Lane:
    link = node.first("link")
    neighbours = [link.first(name) if link else None for name in ("predecessor", "successor")]
    raised = [
        (child.number("sOffset", 0.0), (child.number("inner", 0.0) + child.number("outer", 0.0)) / 2, 0.0, 0.0, 0.0)
        for child in node.all("height")
    ]
    kind = node.word("type", "none")
    return Lane(
        number=node.integer("id"),
        kind=_LANE_KINDS.get(kind.lower(), kind),
        level=node.word("level", "false") in ("true", "1"),
        width=_widths(node, "width", is_empty=is_empty),
        border=_widths(node, "border", is_empty=is_empty),
        raised=Cubics.of(raised),
        marks=tuple(sorted((_mark(child) for child in node.all("roadMark")), key=lambda mark: mark.s_offset)),
        predecessor=neighbours[0].integer("id") if neighbours[0] else None,
        successor=neighbours[1].integer("id") if neighbours[1] else None,
    )


def _mark(node: Node) -> Mark:
    width = node.number("width", 0.12 if node.word("weight", "standard") == "standard" else 0.25)
    colour = node.word("color", "standard")
    return Mark(node.number("sOffset", 0.0), node.word("type", "none"), colour, width or 0.12)


def _speeds(road: Node) -> tuple[tuple[float, float], ...]:
    rows = []
    for node in road.all("type"):
        speed = node.first("speed")
        if speed is None:
            continue
        if speed.word("max") in ("no limit", "undefined"):
            limit = _NO_LIMIT_KMH
        else:
            unit = speed.word("unit", "")
            if unit not in _KMH:
                raise speed.refuse(f"unit {unit!r} is unknown; use one of km/h, mph, m/s")
            limit = speed.number("max") * _KMH[unit]
        rows.append((node.number("s", 0.0), limit))
    return tuple(sorted(rows))


def _signal(node: Node) -> RoadSignal:
    lanes: list[int] = []
    for validity in node.all("validity"):
        low, high = sorted((validity.integer("fromLane"), validity.integer("toLane")))
        if high - low > 100:
            raise validity.refuse(f"lanes {low} to {high}: a road has at most 100 lanes")
        lanes += [number for number in range(low, high + 1) if number]
    return RoadSignal(
        number=node.word("id"),
        kind=node.word("type", "") if node.tag == "signal" else "",
        value=node.word("value", ""),
        s=node.number("s"),
        t=node.number("t", 0.0),
        z_m=node.number("zOffset", 0.0),
        orientation=node.word("orientation", "none"),
        heading_rad=node.number("hOffset", 0.0),
        lanes=tuple(dict.fromkeys(lanes)) if node.first("validity") else None,
        name=node.word("name", ""),
    )


def _outline(node: Node, tag: str, names: tuple[str, str, str]) -> Float64:
    outline = node.first("outline")
    outlines = node.first("outlines")
    if outline is None and outlines is not None:
        outline = outlines.first("outline")
    rows = [[corner.number(name, 0.0) for name in names] for corner in outline.all(tag)] if outline else []
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _object(node: Node) -> RoadObject:
    radius = node.number("radius", 0.0)
    length, width = node.number("length", 2 * radius), node.number("width", 2 * radius)
    return RoadObject(
        number=node.word("id", ""),
        kind=node.word("type", "none"),
        name=node.word("name", ""),
        s=node.number("s"),
        t=node.number("t", 0.0),
        z_m=node.number("zOffset", 0.0),
        heading_rad=node.number("hdg", 0.0),
        size_m=(length, width, node.number("height", 0.0)),
        outline_local=_outline(node, "cornerLocal", ("u", "v", "z")),
        outline_road=_outline(node, "cornerRoad", ("s", "t", "dz")),
    )
