"""A vector map as Lanelet2's OSM file, written by Lanelet2's own library; the one door to it.

The map frame is the plane that touches the earth (WGS 84) at the origin of ``geometry.geographic``:
x east, y north. Read with Lanelet2's ``LocalCartesianProjector`` at that origin, the file lies in the map frame again. Its UTM
projector would not do: most of CARLA's towns name the equator, and lie on both sides of it.

Source: Lanelet2, lanelet2_core/doc: the tags of lanelets, of lines and of regulatory elements.
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

__all__ = ["osm_file"]

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
    """Return the file; what of the lanes' ways it cannot say is added to the map's warnings.

    Raises:
        InputError: Lanelet2's library is not installed.
    """
    try:
        import lanelet2
    except ImportError as error:
        raise InputError(f"--format lanelet2 needs Lanelet2's library: {install_line('lanelet2')}") from error
    cut = cut_lanes(town)
    town.warnings += [f"lanelet2: lane {a} leads to {b}, whose begin lies apart: not said" for a, b in cut.unsaid]
    made = _Writer(town, cut).whole()
    projector = lanelet2.projection.LocalCartesianProjector(lanelet2.io.Origin(*town.origin_deg_m))
    with scratch_folder("uavsim-lanelet2-") as folder:
        path = folder / "map.osm"
        lanelet2.io.write(str(path), made, projector)
        return path.read_bytes()


class _Approach(NamedTuple):
    """Lanes that end at a sign: their tokens, their last lanelets, their stop line, and whether all have to stop there."""

    tokens: frozenset[str]
    lanelets: list[Lanelet]
    line: LineString3d
    stops: bool


class _Writer:
    """Makes Lanelet2's objects, with ids from 1 on."""

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

        made = []
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
            made.append(self._core.Lanelet(next(self._ids), bound(cell.left), bound(cell.right), self._tags(tags)))
        return made

    def _tags(self, tags: dict[str, str]) -> Any:
        return self._core.AttributeMap(tags)

    def _line(self, points_m: FloatArray, tags: dict[str, str]) -> LineString3d:
        points = [self._core.Point3d(next(self._ids), *place) for place in points_m.tolist()]
        return self._core.LineString3d(next(self._ids), points, self._tags(tags))

    def _border(self, line: Line, *, inside: bool) -> LineString3d:
        points = [self._core.Point3d(next(self._ids), *place) for place in line.points_m[1:-1].tolist()]
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
        """Add stop lines, and the lights and rights of way that are their reasons."""
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
            heeded: list[Any] = [lights[token] for token in fields["traffic_light_tokens"] if token in lights]
            if fields["stop_line_type"] == "TRAFFIC_LIGHT" and heeded:
                self._rule(self._core.TrafficLight(next(self._ids), self._tags({}), heeded, line), lanes)
            if fields["stop_line_type"] in {"STOP_SIGN", "YIELD"}:
                for junction, tokens in into.items():
                    if tokens & ends.keys():
                        stops = fields["stop_line_type"] == "STOP_SIGN"
                        signed[junction].append(_Approach(frozenset(ends), lanes, line, stops=stops))
        for junction, approaches in signed.items():
            free = into[junction].difference(*(approach.tokens for approach in approaches))
            self._give_way(approaches, [lanelets[self._cut.of_lane[token][-1]] for token in sorted(free)])

    def _give_way(self, approaches: list[_Approach], free: list[Lanelet]) -> None:
        """Say who gives way at a junction to whom; where nobody is free, that all stop, or nothing."""
        core = self._core
        if free:
            for one in approaches:
                rule = core.RightOfWay(next(self._ids), self._tags({}), free, one.lanelets, one.line)
                self._rule(rule, [*free, *one.lanelets])
        elif all(one.stops for one in approaches):
            stops = [core.LaneletWithStopLine(lanelet, one.line) for one in approaches for lanelet in one.lanelets]
            self._rule(core.AllWayStop(next(self._ids), self._tags({}), stops), [stop.lanelet for stop in stops])

    def _into_junctions(self) -> dict[str, set[str]]:
        """Return the lanes that lead into each junction."""
        connectors = self._town.layer("lane_connector")
        found: dict[str, set[str]] = defaultdict(set)
        for token, row in zip(connectors.tokens, connectors.fields, strict=True):
            if "uav_junction" in row:
                before = set(self._town.connectivity[token][0]) & self._cut.of_lane.keys()
                found[row["uav_junction"]] |= before
        inside = set(connectors.tokens)
        return {junction: tokens - inside for junction, tokens in found.items()}

    @staticmethod
    def _rule(rule: RegulatoryElement, lanelets: list[Lanelet]) -> None:
        for lanelet in lanelets:
            lanelet.addRegulatoryElement(rule)

    def _lights(self) -> dict[str, LineString3d]:
        layer = self._town.layer("traffic_light")
        tags = {"type": "traffic_light", "subtype": "red_yellow_green"}
        found = {}
        for token, shape in zip(layer.tokens, layer.shapes, strict=True):
            found[token] = self._line(shapely.get_coordinates(shape, include_z=True), {**tags, "uav_token": token})
            self._map.add(found[token])
        return found

    def _walked(self, layer: str, subtype: str, line: str) -> None:
        """Add crossings or walkways as lanelets of people on foot."""
        own = self._town.layer(layer)
        for token, shape in zip(own.tokens, own.shapes, strict=True):
            ring = np.nan_to_num(shapely.get_coordinates(shapely.get_exterior_ring(shape), include_z=True))
            sides = sides_across(ring) if layer == "ped_crossing" else _sides_along(ring)
            if sides is None:
                self._town.warnings.append(f"lanelet2: {layer} {token} has no two sides: left out")
                continue
            left, right = (self._line(side, {"type": line}) for side in sides)
            tags = {"type": "lanelet", "subtype": subtype, **_WALKED, "uav_token": token}
            self._map.add(self._core.Lanelet(next(self._ids), left, right, self._tags(tags)))


def _sides_along(ring_m: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the left and the right border of a strip: its ring is the right one, then the left one back."""
    ring = ring_m[:-1]
    half = len(ring) // 2
    return None if len(ring) % 2 or half < 2 else (ring[half:][::-1], ring[:half])


def _widest(points_m: FloatArray) -> FloatArray:
    """Return the two of (N, 3) points that lie farthest apart, in their order."""
    away = np.linalg.norm(points_m[:, None] - points_m[None], axis=2)
    ends = sorted(np.unravel_index(np.argmax(away), away.shape))
    return points_m[list(ends)]
