"""Reader of OpenDRIVE files; faulty parts are left out and listed with their road and s.

Roads are read one by one, so that a file of 90 MB needs little memory. Source: ASAM OpenDRIVE 1.4 to 1.8.
"""

from io import BytesIO
from pathlib import Path
from typing import IO, Final

import numpy as np

from uavsim.config.load import display_path
from uavsim.errors import DatasetError, InputError
from uavsim.files.parse import open_regular
from uavsim.geometry.geographic import origin_of_reference
from uavsim.maps.opendrive.cubics import ZERO, Cubics, cubics
from uavsim.maps.opendrive.model import Fault, Junction, Lane, Mark, Network, Road, RoadLink, Section, Speed
from uavsim.maps.opendrive.numbers import Element, Faulty, number
from uavsim.maps.opendrive.objects import read_objects, read_signals
from uavsim.maps.opendrive.plan_view import Piece, PlanView
from uavsim.maps.opendrive.xml import children

_LARGEST_BYTES: Final = 300_000_000
_MOST_BYTES: Final = 400_000_000
_BYTES: Final = 60
_BYTES_OF: Final = {"road": 2500, "geometry": 700, "laneSection": 400, "lane": 1300, "object": 1100, "signal": 1100,
                    "signalReference": 1100, "roadMark": 260, "speed": 150, "connection": 300, "laneLink": 400}  # fmt: skip
"""Measured memory of elements in ``Network``."""
_GAP_M: Final = 0.1
_LONGEST_M: Final = 1e5
_MOST_FAULTS: Final = 10_000
_MOST_LANES: Final = 200
_MOST_SECTIONS: Final = 2000
_UNLIMITED: Final = frozenset({"no limit", "undefined"})
_MPS_OF: Final = {"m/s": 1.0, "km/h": 1.0 / 3.6, "mph": 0.44704}


def read_opendrive(path: Path) -> Network:
    """Read a file.

    Raises:
        InputError: the file is not a regular file, not OpenDRIVE, or has no usable road.
    """
    try:
        file = open_regular(path, most_bytes=_LARGEST_BYTES)
    except DatasetError as error:
        raise InputError(str(error)) from error
    with file:
        return _network(file, name=display_path(path))


def read_network(data: bytes, *, name: str) -> Network:
    """Read the bytes of a file; ``name`` appears in messages. Raises as ``read_opendrive``."""
    return _network(BytesIO(data), name=name)


def _network(file: IO[bytes], *, name: str) -> Network:
    network = Network({}, {}, [], name)
    needed_bytes = 0
    for element in children(file, name=name):
        if element.tag == "header":
            network.origin_deg_m = origin_of_reference(element.findtext("geoReference") or "")
        elif element.tag in {"road", "junction"} and "id" in element.attrib:
            needed_bytes += sum(_BYTES_OF.get(part.tag, _BYTES) for part in element.iter())
            if needed_bytes > _MOST_BYTES:
                raise InputError(
                    f"{name}: its roads need more than {_MOST_BYTES // 1_000_000} MB of memory; split the map"
                )
            (_add_road if element.tag == "road" else _add_junction)(network, element)
            del network.faults[_MOST_FAULTS:]
    if not network.roads:
        reason = f": {network.faults[0]}" if network.faults else ""
        raise InputError(f"{name}: has no usable road{reason}")
    return network


def _add_road(network: Network, element: Element) -> None:
    name = element.attrib["id"]
    if name in network.roads:
        network.faults.append(Fault(name, 0.0, "a second road of this id is left out"))
        return
    try:
        road = _road(element, network.faults)
    except Faulty as error:
        network.faults.append(Fault(name, error.s_m, f"the road is left out: {error}"))
        return
    read_objects(road, element, network.faults)
    read_signals(road, element, network.faults)
    network.roads[name] = road


def _road(element: Element, faults: list[Fault]) -> Road:
    name = element.attrib["id"]
    plan = PlanView(_pieces(element, name, faults))
    last = plan.pieces[-1]
    length = number(element, "length", last.s_m + last.length_m)
    if not 0 < length < _LONGEST_M:
        raise Faulty(f"its length is {length:g} m")
    if abs(length - last.s_m - last.length_m) > _GAP_M:
        faults.append(Fault(name, length, f"its geometry ends at s {last.s_m + last.length_m:.2f}, not at its length"))
        length = min(length, last.s_m + last.length_m)
    road = Road(
        name, element.get("name", ""), length, element.get("junction", "-1"), element.get("rule") == "LHT", plan
    )
    road.elevation = _profile(element, "elevationProfile/elevation", road, faults)
    road.superelevation = _profile(element, "lateralProfile/superelevation", road, faults)
    road.lane_offset = _profile(element, "lanes/laneOffset", road, faults)
    road.predecessor, road.successor = (_link(element.find(f"link/{end}")) for end in ("predecessor", "successor"))
    road.sections = _sections(element, road, faults)
    road.speeds = _speeds(element, "type", "s", name, faults)
    return road


def _pieces(element: Element, name: str, faults: list[Fault]) -> list[Piece]:
    pieces: list[Piece] = []
    for geometry in element.iterfind("planView/geometry"):
        piece = _piece(geometry)
        if piece is None:
            continue
        if pieces and piece.s_m < pieces[-1].s_m:
            raise Faulty(f"its geometry goes back from s {pieces[-1].s_m:.2f}", piece.s_m)
        if pieces:
            _compare_ends(pieces[-1], piece, name, faults)
        pieces.append(piece)
    if not pieces:
        raise Faulty("it has no plan view")
    return pieces


def _compare_ends(before: Piece, after: Piece, name: str, faults: list[Fault]) -> None:
    end, _ = before.on_map(np.array([before.length_m]))
    gap = float(np.hypot(end[0, 0] - after.x_m, end[0, 1] - after.y_m))
    if gap > _GAP_M:
        faults.append(Fault(name, after.s_m, f"a gap of {gap:.2f} m in its geometry"))


def _piece(geometry: Element) -> Piece | None:
    s, x, y, heading, length = (number(geometry, key) for key in ("s", "x", "y", "hdg", "length"))
    if not (0 <= length < _LONGEST_M and 0 <= s < _LONGEST_M):
        raise Faulty(f"a geometry is {length:g} m long", s)
    if length < 1e-9:
        return None
    shape = next((child for child in geometry if child.tag in _SHAPES), None)
    if shape is None:
        raise Faulty("a geometry has an unknown shape", s)
    if shape.tag == "line":
        return Piece(s, x, y, heading, length, (0.0, 0.0))
    if shape.tag == "arc":
        bent = number(shape, "curvature")
        return _refuse_coils(Piece(s, x, y, heading, length, (bent, bent)))
    if shape.tag == "spiral":
        return _refuse_coils(Piece(s, x, y, heading, length, (number(shape, "curvStart"), number(shape, "curvEnd"))))
    if shape.tag == "poly3":
        uv = np.array([[0.0, 1.0, 0.0, 0.0], [number(shape, key) for key in "abcd"]])
        return Piece(s, x, y, heading, length, None, uv, length)
    uv = np.array([[number(shape, f"{key}{axis}", 0.0) for key in "abcd"] for axis in "UV"])
    end = length if shape.get("pRange") == "arcLength" else 1.0
    return Piece(s, x, y, heading, length, None, uv, end, is_whole=True)


_SHAPES: Final = frozenset({"line", "arc", "spiral", "poly3", "paramPoly3"})


def _refuse_coils(piece: Piece) -> Piece:
    if piece.sharpest * piece.length_m > 40.0:
        raise Faulty("a geometry makes too many turns", piece.s_m)
    return piece


def _profile(element: Element, path: str, road: Road, faults: list[Fault]) -> Cubics:
    rows = []
    for row in element.iterfind(path):
        try:
            rows.append((number(row, "s"), *(number(row, key, 0.0) for key in "abcd")))
        except Faulty as error:
            faults.append(Fault(road.id, error.s_m, f"a {row.tag} is left out: {error}"))
    profile = cubics(rows)  # type: ignore[arg-type]
    return ZERO if profile.is_zero else profile


def _link(element: Element | None) -> RoadLink | None:
    if element is None or element.get("elementId") is None:
        return None
    return RoadLink(element.get("elementType", "road"), element.get("elementId", ""))


def _sections(element: Element, road: Road, faults: list[Fault]) -> list[Section]:
    found: list[tuple[float, Element]] = []
    for row in element.iterfind("lanes/laneSection"):
        s = number(row, "s", 0.0)
        if s < road.length_m - 1e-6 or not found:
            found.append((min(max(s, 0.0), road.length_m), row))
    found.sort(key=lambda pair: pair[0])
    if not 0 < len(found) <= _MOST_SECTIONS:
        raise Faulty(f"it has {len(found) or 'no'} lane section{'s' * (len(found) > 1)}")
    ends = [s for s, _ in found[1:]] + [road.length_m]
    sections = []
    for (s, row), end in zip(found, ends, strict=True):
        lanes: dict[int, Lane] = {}
        for side in ("left", "center", "right"):
            for child in row.iterfind(f"{side}/lane"):
                try:
                    lane = _lane(child, side, road.id, faults)
                except Faulty as error:
                    faults.append(Fault(road.id, s, f"lane {child.get('id')} is left out: {error}"))
                    continue
                if lane.id in lanes:
                    faults.append(Fault(road.id, s, f"lane {lane.id} is defined twice"))
                    continue
                lanes[lane.id] = lane
        if len(lanes) > _MOST_LANES:
            raise Faulty(f"a lane section has {len(lanes)} lanes", s)
        sections.append(Section(s, end, lanes))
    return sections


def _lane(element: Element, side: str, road: str, faults: list[Fault]) -> Lane:
    try:
        lane_id = int(element.attrib["id"])
    except (KeyError, ValueError) as error:
        raise Faulty("its id is not a number") from error
    if (lane_id > 0) - (lane_id < 0) != {"left": 1, "center": 0, "right": -1}[side]:
        raise Faulty(f"its id does not belong to the {side}")
    is_border = element.find("width") is None and element.find("border") is not None
    rows = element.iterfind("border" if is_border else "width")
    widths = cubics((number(row, "sOffset", 0.0), *(number(row, key, 0.0) for key in "abcd")) for row in rows)  # type: ignore[misc]
    heights = [[number(row, key, 0.0) for key in ("sOffset", "inner", "outer")] for row in element.iterfind("height")]
    marks = [
        Mark(number(row, "sOffset", 0.0), row.get("type", "none"), row.get("color", "standard"))
        for row in element.iterfind("roadMark")
    ]
    lane = Lane(lane_id, element.get("type", "none"), widths, is_border, element.get("level") in {"true", "1"})
    lane.heights = np.array(heights, dtype=np.float64).reshape(-1, 3)
    lane.marks = sorted(marks, key=lambda mark: mark.s_m)
    lane.speeds = _speeds(element, "speed", "sOffset", road, faults)
    lane.predecessors, lane.successors = (_lane_ids(element, end) for end in ("predecessor", "successor"))
    return lane


def _speeds(element: Element, path: str, key: str, road: str, faults: list[Fault]) -> list[Speed]:
    """Return speed limits of a lane's ``speed`` elements, or of a road's ``type`` elements, ascending in s."""
    found = []
    for row in element.iterfind(path):
        speed = row if path == "speed" else row.find("speed")
        if speed is None:
            continue
        unit, limit = speed.get("unit", "m/s"), speed.get("max", "")
        try:
            mps = None if limit in _UNLIMITED else number(speed, "max") * _MPS_OF[unit]
            found.append(Speed(number(row, key, 0.0), mps))
        except (Faulty, KeyError) as error:
            faults.append(Fault(road, 0.0, f"a speed limit is left out: {error if unit in _MPS_OF else f'in {unit}'}"))
    return sorted(found, key=lambda speed: speed.s_m)


def _lane_ids(element: Element, end: str) -> list[int]:
    return [int(number(row, "id")) for row in element.iterfind(f"link/{end}")]


def _add_junction(network: Network, element: Element) -> None:
    junction, known_links = Junction(element.attrib["id"]), set[tuple[object, object]]()
    for row in element.iterfind("connection"):
        road, contact = row.get("connectingRoad"), row.get("contactPoint", "start")
        incoming = row.get("incomingRoad")
        if road is None or incoming is None:  # a virtual or direct junction, which has linkedRoad
            road = row.get("linkedRoad") if road is None else road
            if road is None or incoming is None:
                continue
        for link in row.iterfind("laneLink"):
            try:
                key = (incoming, int(number(link, "from")))
                target = (road, contact, int(number(link, "to")))
            except Faulty as error:
                network.faults.append(Fault("", 0.0, f"junction {junction.id}: a lane link is left out: {error}"))
                continue
            if (key, target) not in known_links:
                known_links.add((key, target))
                junction.lanes.setdefault(key, []).append(target)
    network.junctions[junction.id] = junction
