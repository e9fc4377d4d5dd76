"""Areas of a town: lanes, road blocks, road segments, drivable area, walkways, car parks."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import shapely

from uavsim.dataset.tokens import token
from uavsim.errors import InputError
from uavsim.maps.changes import LaneChange, lane_changes
from uavsim.maps.lanes import DRIVING, Key, LanePiece, LaneRecord, lane_pieces, lane_records
from uavsim.maps.opendrive.model import Network, Road
from uavsim.maps.opendrive.objects import outline_on_map
from uavsim.maps.vector_map import Layer, Shapes, polygons_of, valid
from uavsim.typing import FloatArray, JsonDict

_MAY_STOP: Final = frozenset({"parking", "shoulder", "stop", "border", "restricted"})
_WALKED: Final = frozenset({"sidewalk", "walking"})
_HOLE_M2: Final = 2.0
_MOST_HOLES: Final = 50_000  # shapely's buffer takes quadratic time
_JUNCTION_HOLE_M2: Final = 150.0
_GRID_M: Final = 1e-3
_CURB: Final = "curb"


@dataclass(eq=False)
class TownLanes:
    """A network with its lanes as shapes.

    Attributes:
        name: name of the town.
        network: the network.
        pieces: pieces of all lanes.
        records: the lanes that vehicles drive on.
        edges: pairs (a, b) of record indices; record a leads to record b.
        tokens: token of each record.
        shapes: polygon of each record.
        changes: lane changes between otherwise unconnected parts of the town.
        block_of: road block of each record outside junctions.
        blocks: records of each road block.
        junction_areas: polygons of each junction.
    """

    name: str
    network: Network
    pieces: list[LanePiece]
    records: list[LaneRecord]
    edges: list[tuple[int, int]]
    tokens: list[str]
    shapes: Shapes
    changes: list[LaneChange]
    block_of: dict[int, str] = field(default_factory=dict)
    blocks: dict[str, list[int]] = field(default_factory=dict)
    junction_areas: dict[str, list[Any]] = field(default_factory=dict)

    def token(self, *parts: object) -> str:
        """Return a token of this town."""
        return token("map", self.name, *parts)

    @cached_property
    def ways(self) -> list[tuple[str, LaneRecord, Any]]:
        """Token, record and polygon of lanes, connectors and lane changes."""
        changes = [LaneRecord([change.way], is_change=True) for change in self.changes]
        shapes = polygons_of([record.ring_m for record in changes])
        lanes = zip(self.tokens, self.records, self.shapes, strict=True)
        added = zip(map(self.change_token, self.changes), changes, shapes, strict=True)
        return [way for way in (*lanes, *added) if not way[1].is_isolated]

    def change_token(self, change: LaneChange) -> str:
        """Return the token of a lane change."""
        return self.token("change", self.tokens[change.begin], self.tokens[change.end])


def survey(network: Network, name: str) -> TownLanes:
    """Return the lanes of a network."""
    pieces = list(lane_pieces(network))
    driven: dict[Key, LanePiece] = {piece.key: piece for piece in pieces if piece.lane.type in DRIVING}
    records, edges = lane_records(network, driven)
    tokens = [token("map", name, "lane", *record.pieces[0].key) for record in records]
    shapes = polygons_of([record.ring_m for record in records])
    return TownLanes(name, network, pieces, records, edges, tokens, shapes, lane_changes(records, edges))


def heights_of(points_m: FloatArray) -> JsonDict:
    """Return the field ``uav_height_m`` with the height range of (N, 3) points."""
    z = points_m[:, 2]
    return {"uav_height_m": [round(float(z.min()), 3), round(float(z.max()), 3)]}


def parts_of(shape: Any) -> list[Any]:
    """Return the polygons of a shape, the largest first."""
    parts = shapely.get_parts(shape)
    parts = parts[shapely.get_type_id(parts) == 3]
    return list(parts[np.argsort(-shapely.area(parts), kind="stable")])


def lane_layers(town: TownLanes) -> dict[str, Layer]:
    """Return the layers lane, lane_connector, road_block and road_segment; store blocks and junction areas in ``town``."""
    layers = {
        name: Layer.of(
            (key, shape, _lane_fields(record)) for key, record, shape in town.ways if record.is_connector == inside
        )
        for name, inside in (("lane", False), ("lane_connector", True))
    }
    segments = list(_segments(town))
    layers["road_block"] = Layer.of(_blocks(town, segments))
    layers["road_segment"] = Layer.of(segments)
    return layers


def _lane_fields(record: LaneRecord) -> JsonDict:
    first = record.pieces[0]
    fields: JsonDict = {"lane_type": "CAR", "uav_road": record.road.id, "uav_lane": first.lane.id}
    if record.is_change:
        fields["uav_lane_change"] = True
    elif record.is_connector:
        fields["uav_junction"] = record.road.junction
    limit_mps = record.road.limit_mps(first.lane, first.section, float(first.s_m[0]))
    if limit_mps is not None:
        fields["uav_speed_limit_mps"] = round(limit_mps, 3)
    return {**fields, **heights_of(record.joined("centre_m"))}


def _segments(town: TownLanes) -> Iterable[tuple[str, Any, JsonDict]]:
    by_road: dict[str, list[int]] = defaultdict(list)
    by_junction: dict[str, list[int]] = defaultdict(list)
    for index, record in enumerate(town.records):
        group = by_junction[record.road.junction] if record.road.in_junction else by_road[record.road.id]
        group.append(index)
    for road, indices in by_road.items():
        for number, part in enumerate(parts_of(_union(town.shapes[indices]))):
            yield town.token("road_segment", road, number), part, {"is_intersection": False, "uav_road": road}
    for junction, indices in by_junction.items():
        parts = parts_of(_filled(_union(town.shapes[indices]), _JUNCTION_HOLE_M2))
        town.junction_areas[junction] = parts
        for number, part in enumerate(parts):
            yield (
                town.token("intersection", junction, number),
                part,
                {"is_intersection": True, "uav_junction": junction},
            )


def _blocks(town: TownLanes, segments: list[tuple[str, Any, JsonDict]]) -> Iterable[tuple[str, Any, JsonDict]]:
    groups: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for index, record in enumerate(town.records):
        if not record.road.in_junction:
            groups[record.road.id, record.forward].append(index)
    of_road = {fields["uav_road"]: key for key, _, fields in reversed(segments) if "uav_road" in fields}
    for (road, forward), indices in groups.items():
        centres = shapely.point_on_surface(town.shapes[indices])
        for number, part in enumerate(parts_of(_union(town.shapes[indices]))):
            name = town.token("road_block", road, forward, number)
            inside = np.array(indices)[shapely.intersects(part, centres)].tolist()
            town.block_of.update(dict.fromkeys(inside, name))
            town.blocks[name] = inside
            yield name, part, {"road_segment_token": of_road.get(road, ""), "uav_road": road}


def _union(shapes: Shapes) -> Any:
    return shapely.union_all(shapes, grid_size=_GRID_M)


def _filled(shape: Any, largest_m2: float) -> Any:
    """Return a shape without holes up to a size."""
    filled = []
    for part in parts_of(shape):
        rings = shapely.get_rings(part)
        holes = [ring for ring in rings[1:] if shapely.area(shapely.polygons(ring)) > largest_m2]
        filled.append(shapely.polygons(rings[0], holes=holes or None))
    return shapely.MultiPolygon(filled)  # empty without parts


def drivable_area(town: TownLanes) -> Layer:
    """Return the layer drivable_area: lanes, shoulders and parking lanes up to the first curb, and junctions.

    Raises:
        InputError: the lanes leave too many holes.
    """
    beside = _before_curbs(town.network)
    shoulders = polygons_of([piece.ring_m for piece in town.pieces if piece.key in beside])
    junctions = [part for parts in town.junction_areas.values() for part in parts]
    whole = shapely.union_all(np.array([*town.shapes, *shoulders, *junctions], dtype=object), grid_size=_GRID_M)
    if shapely.get_num_interior_rings(shapely.get_parts(whole)).sum() > _MOST_HOLES:
        raise InputError(f"{town.network.name}: its drivable area has more than {_MOST_HOLES:,} holes; split the map")
    whole = shapely.buffer(shapely.buffer(whole, 0.01, join_style="mitre"), -0.01, join_style="mitre")  # closes slits
    parts = parts_of(_filled(whole, _HOLE_M2))
    parts = [part for part in parts if shapely.area(part) > 0.01]
    return Layer.of((town.token("drivable_area", number), part, {}) for number, part in enumerate(parts))


def _before_curbs(network: Network) -> set[Key]:
    """Return the lanes beside driving lanes, such as shoulders, up to the first curb."""
    keys: set[Key] = set()
    for road in network.roads.values():
        for number, section in enumerate(road.sections):
            for sign in (1, -1):
                for lane in section.side(sign):
                    if lane.type in _MAY_STOP:
                        keys.add((road.id, number, lane.id))
                    elif lane.type not in DRIVING:
                        break
                    if any(mark.type == _CURB for mark in lane.marks):
                        break
    return keys


def walkways(town: TownLanes) -> Layer:
    """Return the layer walkway: one record for each sidewalk lane of each section."""
    pieces = [piece for piece in town.pieces if piece.lane.type in _WALKED]
    shapes = polygons_of([piece.ring_m for piece in pieces])
    return Layer.of(
        (town.token("walkway", *piece.key), shape, {"uav_road": piece.road.id, **heights_of(piece.ring_m)})
        for piece, shape in zip(pieces, shapes, strict=True)
    )


def carparks(town: TownLanes) -> Layer:
    """Return the layer carpark_area: parking lanes, and parking spaces outside them."""
    pieces = [piece for piece in town.pieces if piece.lane.type == "parking"]
    rings: list[tuple[tuple[object, ...], Road, FloatArray, float]] = [
        (("lane", *piece.key), piece.road, piece.ring_m, float(piece.yaw_rad[0])) for piece in pieces
    ]
    lanes = shapely.STRtree(polygons_of([piece.ring_m for piece in pieces]))
    spaces = [
        (road, parking_space)
        for road in town.network.roads.values()
        for parking_space in road.objects
        if parking_space.type.startswith("parking")
    ]
    outlines = [outline_on_map(road, parking_space) for road, parking_space in spaces]
    centres = shapely.points(np.array([ring[:, :2].mean(axis=0) for ring in outlines]).reshape(-1, 2))
    covered = set(lanes.query(centres, predicate="intersects")[0].tolist())
    for number, ((road, parking_space), ring) in enumerate(zip(spaces, outlines, strict=True)):
        if number not in covered and len(ring) > 2 and min(parking_space.size_m) > 0.1:
            yaw = road.heading_rad(parking_space.s_m) + parking_space.heading_rad
            rings.append((("space", road.id, parking_space.id, number), road, ring, yaw))
    shapes = valid(polygons_of([ring for _, _, ring, _ in rings]))
    return Layer.of(
        (
            town.token("carpark", *key),
            shape,
            {"orientation": wrapped_rad(yaw), "road_block_token": _block_of_road(town, road), **heights_of(ring)},
        )
        for (key, road, ring, yaw), shape in zip(rings, shapes, strict=True)
    )


def wrapped_rad(angle: float) -> float:
    """Return an angle in [-pi, pi)."""
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


def _block_of_road(town: TownLanes, road: Road) -> str:
    """Return a road block of a road; "" in junctions."""
    for forward in (True, False):
        name = town.token("road_block", road.id, forward, 0)
        if name in town.blocks:
            return name
    return ""
