"""A vector map as Lanelet2's OSM file, written by Lanelet2's library.

The map frame is the tangent plane of WGS 84 at the map's origin, x east, y north. Lanelet2's ``LocalCartesianProjector`` at
that origin restores map coordinates. Its UTM projector is not suitable, because most of CARLA's towns lie on both sides of
the equator. Source: Lanelet2, lanelet2_core/doc.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import shapely

from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.files.scratch import scratch_folder
from uavsim.maps.lanelets import Lanelets, Line, Side, cut_lanes, sides_across, stop_places_m
from uavsim.maps.vector_map import VectorMap
from uavsim.typing import FloatArray

if TYPE_CHECKING:
    from lanelet2.core import Lanelet, LineString3d, RegulatoryElement

_SUBTYPES: Final = {
    "SINGLE_SOLID": "solid",
    "SINGLE_DASHED": "dashed",
    "DOUBLE_SOLID": "solid_solid",
    "DOUBLE_DASHED": "dashed",
    "DOUBLE_SOLID_DASHED": "solid_dashed",
    "DOUBLE_DASHED_SOLID": "dashed_solid",
}
_WALKED: Final = {"one_way": "no", "location": "urban"}
_KMH_OF_MPS: Final = 3.6


def osm_file(town: VectorMap) -> bytes:
    """Return the OSM file; connections that Lanelet2 cannot express become warnings of the map.

    Raises:
        InputError: Lanelet2's library is not installed.
    """
    try:
        import lanelet2
    except ImportError as error:
        raise InputError(f"--format lanelet2 needs Lanelet2's library: {install_line('lanelet2')}") from error
    cut = cut_lanes(town)
    town.warnings += [f"lanelet2: lane {a} is not connected to {b}, whose start is too far" for a, b in cut.unconnected]
    lanelet_map = _Writer(town, cut).whole()
    projector = lanelet2.projection.LocalCartesianProjector(lanelet2.io.Origin(*town.origin_deg_m))
    with scratch_folder("uavsim-lanelet2-") as folder:
        path = folder / "map.osm"
        lanelet2.io.write(str(path), lanelet_map, projector)
        return path.read_bytes()


class _Approach(NamedTuple):
    """Lanes that end at a sign: tokens, last lanelets, stop line, and whether it is a stop sign."""

    tokens: frozenset[str]
    lanelets: list[Lanelet]
    line: LineString3d
    stops: bool


class _Writer:
    """Creates Lanelet2's objects with ids from 1 on."""

    def __init__(self, town: VectorMap, cut: Lanelets) -> None:
        from lanelet2 import core

        self._core, self._town, self._cut = core, town, cut
        self._ids = count(1)
        self._map = core.LaneletMap()
        self._joints: dict[int, Any] = {}

    def whole(self) -> Any:
        connectors = set(self._town.layer("lane_connector").tokens)
        inside = {side.line for cell in self._cut.cells if cell.token in connectors for side in (cell.left, cell.right)}
        lines = [self._border(line, inside=number in inside) for number, line in enumerate(self._cut.lines)]
        lanelets = self._lanelets(lines)
        self._stop_lines(lanelets)
        self._walked("ped_crossing", "crosswalk", "pedestrian_marking")
        self._walked("walkway", "walkway", "road_border")
        for lanelet in lanelets:
            self._map.add(lanelet)
        return self._map

    def _lanelets(self, lines: list[LineString3d]) -> list[Lanelet]:
        fields = {
            token: row
            for name in ("lane", "lane_connector")
            for token, row in zip(self._town.layer(name).tokens, self._town.layer(name).fields, strict=True)
        }

        def bound(side: Side) -> LineString3d:
            return lines[side.line].invert() if side.inverted else lines[side.line]

        lanelets = []
        for cell in self._cut.cells:
            tags = {
                "type": "lanelet",
                "subtype": "road",
                "location": "urban",
                "one_way": "yes",
                "uav_token": cell.token,
            }
            limit_mps = fields[cell.token].get("uav_speed_limit_mps")
            if limit_mps is not None:
                tags["speed_limit"] = f"{limit_mps * _KMH_OF_MPS:.1f} km/h"
            lanelets.append(self._core.Lanelet(next(self._ids), bound(cell.left), bound(cell.right), self._tags(tags)))
        return lanelets

    def _tags(self, tags: dict[str, str]) -> Any:
        return self._core.AttributeMap(tags)

    def _line(self, points_m: FloatArray, tags: dict[str, str]) -> LineString3d:
        points = [self._core.Point3d(next(self._ids), *xyz_m) for xyz_m in points_m.tolist()]
        return self._core.LineString3d(next(self._ids), points, self._tags(tags))

    def _border(self, line: Line, *, inside: bool) -> LineString3d:
        points = [self._core.Point3d(next(self._ids), *xyz_m) for xyz_m in line.points_m[1:-1].tolist()]
        for joint in line.joints:
            if joint not in self._joints:
                self._joints[joint] = self._core.Point3d(next(self._ids), *self._cut.joints_m[joint].tolist())
        kind, _, colour = line.paint.rpartition("_")
        tags = {"type": "virtual" if inside or line.users > 1 else "road_border"}
        if kind in _SUBTYPES:
            tags = {"type": "line_thin", "subtype": _SUBTYPES[kind], "color": colour.lower()}
        first, last = (self._joints[joint] for joint in line.joints)
        return self._core.LineString3d(next(self._ids), [first, *points, last], self._tags(tags))

    def _stop_lines(self, lanelets: list[Lanelet]) -> None:
        """Add stop lines with their traffic lights and rights of way."""
        lights = self._lights()
        into = self._into_junctions()
        signed: dict[str, list[_Approach]] = defaultdict(list)
        for row, fields in enumerate(self._town.layer("stop_line").fields):
            ends = {token: line for token, line in stop_places_m(self._town, row) if token in self._cut.of_lane}
            if not ends:
                continue
            line = self._line(_widest(np.concatenate(list(ends.values()))), {"type": "stop_line"})
            self._map.add(line)
            lanes = [lanelets[self._cut.of_lane[token][-1]] for token in ends]
            own_lights: list[Any] = [lights[token] for token in fields["traffic_light_tokens"] if token in lights]
            if fields["stop_line_type"] == "TRAFFIC_LIGHT" and own_lights:
                self._rule(self._core.TrafficLight(next(self._ids), self._tags({}), own_lights, line), lanes)
            if fields["stop_line_type"] in {"STOP_SIGN", "YIELD"}:
                for junction, tokens in into.items():
                    if tokens & ends.keys():
                        stops = fields["stop_line_type"] == "STOP_SIGN"
                        signed[junction].append(_Approach(frozenset(ends), lanes, line, stops=stops))
        for junction, approaches in signed.items():
            free = into[junction].difference(*(approach.tokens for approach in approaches))
            self._give_way(approaches, [lanelets[self._cut.of_lane[token][-1]] for token in sorted(free)])

    def _give_way(self, approaches: list[_Approach], free: list[Lanelet]) -> None:
        """Add the rule of a junction: right of way for lanes without a sign, else an all-way stop if all have stop signs."""
        core = self._core
        if free:
            for approach in approaches:
                rule = core.RightOfWay(next(self._ids), self._tags({}), free, approach.lanelets, approach.line)
                self._rule(rule, [*free, *approach.lanelets])
        elif all(approach.stops for approach in approaches):
            stops = [core.LaneletWithStopLine(lanelet, a.line) for a in approaches for lanelet in a.lanelets]
            self._rule(core.AllWayStop(next(self._ids), self._tags({}), stops), [stop.lanelet for stop in stops])

    def _into_junctions(self) -> dict[str, set[str]]:
        """Return the tokens of the lanes that lead into each junction."""
        connectors = self._town.layer("lane_connector")
        into: dict[str, set[str]] = defaultdict(set)
        for token, row in zip(connectors.tokens, connectors.fields, strict=True):
            if "uav_junction" in row:
                before = set(self._town.connectivity[token][0]) & self._cut.of_lane.keys()
                into[row["uav_junction"]] |= before
        inside = set(connectors.tokens)
        return {junction: tokens - inside for junction, tokens in into.items()}

    @staticmethod
    def _rule(rule: RegulatoryElement, lanelets: list[Lanelet]) -> None:
        for lanelet in lanelets:
            lanelet.addRegulatoryElement(rule)

    def _lights(self) -> dict[str, LineString3d]:
        layer = self._town.layer("traffic_light")
        tags = {"type": "traffic_light", "subtype": "red_yellow_green"}
        lights = {}
        for token, shape in zip(layer.tokens, layer.shapes, strict=True):
            lights[token] = self._line(shapely.get_coordinates(shape, include_z=True), {**tags, "uav_token": token})
            self._map.add(lights[token])
        return lights

    def _walked(self, layer: str, subtype: str, line: str) -> None:
        """Add crossings or walkways as pedestrian lanelets."""
        records = self._town.layer(layer)
        for token, shape in zip(records.tokens, records.shapes, strict=True):
            ring = np.nan_to_num(shapely.get_coordinates(shapely.get_exterior_ring(shape), include_z=True))
            sides = sides_across(ring) if layer == "ped_crossing" else _sides_along(ring)
            if sides is None:
                self._town.warnings.append(f"lanelet2: {layer} {token} is left out: it does not have two sides")
                continue
            left, right = (self._line(side, {"type": line}) for side in sides)
            tags = {"type": "lanelet", "subtype": subtype, **_WALKED, "uav_token": token}
            self._map.add(self._core.Lanelet(next(self._ids), left, right, self._tags(tags)))


def _sides_along(ring_m: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Split the (2 N + 1, 3) closed ring of a strip, right border then reversed left one, into (N, 3) left and right."""
    ring = ring_m[:-1]
    half = len(ring) // 2
    return None if len(ring) % 2 or half < 2 else (ring[half:][::-1], ring[:half])


def _widest(points_m: FloatArray) -> FloatArray:
    """Return the (2, 3) most distant of (N, 3) points, in their order."""
    distance = np.linalg.norm(points_m[:, None] - points_m[None], axis=2)
    ends = sorted(np.unravel_index(np.argmax(distance), distance.shape))
    return points_m[list(ends)]
