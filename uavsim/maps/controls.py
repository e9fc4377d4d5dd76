"""Pedestrian crossings, stop lines with their reasons, and traffic lights with their lanes.

A signal controls lanes by the file's validities and orientations; a signal of a lane in a junction also controls the lanes
that lead to it. A stop line is where a line is painted before the junction, else at the end of the road.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import shapely

from uavsim.maps.areas import TownLanes, heights_of, parts_of, wrapped_rad
from uavsim.maps.lanes import lengths_m, points_at
from uavsim.maps.opendrive.model import Road, Signal
from uavsim.maps.opendrive.objects import outline_on_map
from uavsim.maps.vector_map import Layer, polygons_of
from uavsim.typing import FloatArray, JsonDict

_LIGHTS: Final = frozenset({"1000001", "1000002", "1000009", "1000010", "1000011", "1000012"})
_STOPS: Final = frozenset({"206"})
_YIELDS: Final = frozenset({"205"})
_PAINT: Final = "stopline"
_DEEP_M: Final = 1.0
"""Depth of a stop line's polygon along the lane."""
_LOOK_BACK_M: Final = 25.0
"""Largest distance of a painted line before its junction."""
_NEAR_M: Final = 8.0
"""Largest distance of a crossing behind its stop line."""
_CROSSING_BACK_M: Final = 12.0
"""Largest distance of a crossing before its junction."""
_GAP_M: Final = 1.0
"""Gap between an unpainted stop line and its crossing."""
_COLOURS: Final = ("RED", "YELLOW", "GREEN")
_LEAST_M2: Final = 1.0


@dataclass(slots=True, eq=False)
class _Approach:
    """The lanes of a road block that lead into a junction, and their stop line with its reasons."""

    block: str
    records: list[int]
    back_m: float = 0.0
    is_painted: bool = False
    reasons: set[str] = field(default_factory=set)
    lights: list[str] = field(default_factory=list)
    crossings: list[str] = field(default_factory=list)


def control_layers(town: TownLanes, segments: Layer) -> dict[str, Layer]:
    """Return the layers ped_crossing, stop_line and traffic_light."""
    crossings = _crossings(town, segments)
    into = defaultdict(list)
    for before, after in town.edges:
        into[after].append(before)
    controlled = _ControlledLanes(town, into)
    approaches = _approaches(town)
    lights = Layer.of(_lights(town, controlled, approaches))
    for kind, types in (("STOP_SIGN", _STOPS), ("YIELD", _YIELDS)):
        for records in controlled.by_signal(types).values():
            for record in records:
                if record in approaches:
                    approaches[record].reasons.add(kind)
    unique = list({id(a): a for a in approaches.values()}.values())
    _move_to_paint(town, unique)
    _add_crossings(town, unique, crossings)
    stop_lines = Layer.of(_stop_lines(town, unique))
    return {"ped_crossing": crossings, "stop_line": stop_lines, "traffic_light": lights}


def _crossings(town: TownLanes, segments: Layer) -> Layer:
    crosswalks = [
        (road, crosswalk)
        for road in town.network.roads.values()
        for crosswalk in road.objects
        if crosswalk.type == "crosswalk"
        or ("crosswalk" in crosswalk.name.lower() and _PAINT not in crosswalk.name.lower())
    ]
    outlines = [outline_on_map(road, crosswalk) for road, crosswalk in crosswalks]
    rings = [(pair, ring) for pair, ring in zip(crosswalks, outlines, strict=True) if len(ring) > 2]
    shapes = polygons_of([ring for _, ring in rings])
    owner = _covering(shapes, segments)
    return Layer.of(
        (
            town.token("crossing", road.id, crosswalk.id, number),
            shape,
            {"road_segment_token": owner.get(number, ""), "uav_object": crosswalk.id, **heights_of(ring)},
        )
        for number, (((road, crosswalk), ring), shape) in enumerate(zip(rings, shapes, strict=True))
        if shapely.area(shape) > _LEAST_M2
    )


def _covering(shapes: Any, layer: Layer) -> dict[int, str]:
    """Return the token of the record that covers most of each shape, by the shape's index."""
    which, found = shapely.STRtree(layer.shapes).query(shapes, predicate="intersects")
    common = shapely.area(shapely.intersection(shapes[which], layer.shapes[found]))
    order = np.argsort(common, kind="stable")
    return {int(which[i]): layer.tokens[int(found[i])] for i in order}


class _ControlledLanes:
    """The lanes that each signal controls."""

    def __init__(self, town: TownLanes, into: dict[int, list[int]]) -> None:
        self.town, self.into = town, into
        self.of_road: dict[str, list[int]] = defaultdict(list)
        for index, record in enumerate(town.records):
            self.of_road[record.road.id].append(index)
        self.posts: dict[str, tuple[Road, Signal]] = {}
        self.uses: dict[str, list[tuple[Road, Signal]]] = defaultdict(list)
        for road in town.network.roads.values():
            for signal in road.signals:
                self.uses[signal.id].append((road, signal))
                if not signal.reference:
                    self.posts.setdefault(signal.id, (road, signal))

    def lanes_of(self, name: str) -> list[int]:
        """Return the lanes of a signal's validities, else those of its road and orientation."""
        uses = self.uses[name]
        found = [index for road, signal in uses for index in self._named(road, signal)]
        if not found and name in self.posts:
            road, signal = self.posts[name]
            found = [p for p in self.of_road[road.id] if self._faces(signal, forward=self.town.records[p].forward)]
        return list(dict.fromkeys(found))

    def _named(self, road: Road, signal: Signal) -> Iterator[int]:
        for index in self.of_road[road.id]:
            record = self.town.records[index]
            ids = {piece.lane.id for piece in record.pieces}
            for low, high in signal.lanes:
                # validities of one side ignore the orientation, which often contradicts them in CARLA's towns
                both_sides = low < 0 < high
                is_valid = (low, high) != (0, 0) and (not both_sides or self._faces(signal, forward=record.forward))
                if is_valid and any(low <= i <= high for i in ids):
                    yield index
                    break

    @staticmethod
    def _faces(signal: Signal, *, forward: bool) -> bool:
        return signal.orientation not in {"+", "-"} or (signal.orientation == "+") == forward

    def before(self, indices: list[int]) -> list[int]:
        """Return the lanes that lead to those in a junction, and those outside junctions."""
        found: list[int] = []
        for index in indices:
            inside = self.town.records[index].road.in_junction
            found += [p for p in self.into[index] if p in self.town.block_of] if inside else [index]
        return list(dict.fromkeys(found))

    def by_signal(self, types: frozenset[str]) -> dict[str, list[int]]:
        """Return the lanes that end before each signal of some types, by the signal's id."""
        names = [name for name, (_, signal) in self.posts.items() if signal.type in types]
        return {name: self.before(self.lanes_of(name)) for name in names}


def _approaches(town: TownLanes) -> dict[int, _Approach]:
    """Return the approach of each lane that leads into a junction."""
    ends = {before for before, after in town.edges if town.records[after].road.in_junction and before in town.block_of}
    found: dict[int, _Approach] = {}
    by_block: dict[str, _Approach] = {}
    for index in sorted(ends):
        block = town.block_of[index]
        by_block.setdefault(block, _Approach(block, [])).records.append(index)
        found[index] = by_block[block]
    return found


def _lights(
    town: TownLanes, controlled: _ControlledLanes, approaches: dict[int, _Approach]
) -> Iterator[tuple[str, Any, JsonDict]]:
    ahead: dict[int, list[int]] = defaultdict(list)
    for before, after in town.edges:
        ahead[before].append(after)
    for name, (road, signal) in controlled.posts.items():
        if not (signal.type in _LIGHTS and signal.dynamic):
            continue
        token = town.token("light", name)
        lanes = controlled.lanes_of(name)
        stopped = controlled.before(lanes)
        for index in stopped:
            if index in approaches:
                approaches[index].reasons.add("TRAFFIC_LIGHT")
                if token not in approaches[index].lights:
                    approaches[index].lights.append(token)
        inside = [p for p in lanes if town.records[p].road.in_junction] or [p for b in stopped for p in ahead[b]]
        behind = [town.block_of[p] for i in inside for p in ahead[i] if p in town.block_of]
        yield (token, *_light(town, road, signal, before=stopped, behind=list(dict.fromkeys(behind)), lanes=lanes))


def _light(
    town: TownLanes, road: Road, signal: Signal, *, before: list[int], behind: list[str], lanes: list[int]
) -> tuple[Any, JsonDict]:
    point = road.xyz(np.array([signal.s_m]), np.array([signal.t_m]), signal.z_m)[0]
    yaw = road.heading_rad(signal.s_m) + signal.heading_rad + (np.pi if signal.orientation == "+" else 0.0)
    wide, high = (value or 0.4 for value in signal.size_m)
    across = np.array([-np.sin(yaw), np.cos(yaw), 0.0]) * wide / 2
    blocks = list(dict.fromkeys(town.block_of[index] for index in before))
    zero = {key: 0.0 for key in ("tx", "ty", "rx", "ry", "rz")}
    items = [
        {
            "color": colour,
            "shape": "CIRCLE",
            "rel_pos": {**zero, "tz": round(high * (1 / 3 - number / 3), 4)},
            "to_road_block_tokens": behind,
        }
        for number, colour in enumerate(_COLOURS)
    ]
    pose = dict(zip(("tx", "ty", "tz"), np.round(point, 4).tolist(), strict=True))
    return shapely.linestrings(np.stack([point - across, point + across])), {
        "traffic_light_type": "VERTICAL",
        "from_road_block_token": blocks[0] if blocks else "",
        "items": items,
        "pose": {**pose, "rx": 0.0, "ry": 0.0, "rz": round(wrapped_rad(yaw), 6)},
        "uav_signal": signal.id,
        "uav_road_block_tokens": blocks,
        "uav_lane_tokens": [town.tokens[index] for index in lanes],
    }


def _move_to_paint(town: TownLanes, approaches: list[_Approach]) -> None:
    """Move stop lines to painted lines."""
    painted = []
    for road in town.network.roads.values():
        for road_object in road.objects:
            if _PAINT in road_object.name.lower():
                painted.append(outline_on_map(road, road_object)[:, :2].mean(axis=0))
        for signal in road.signals:
            if _PAINT in signal.name.lower():
                painted.append(road.xyz(np.array([signal.s_m]), np.array([signal.t_m]))[0, :2])
    if not painted:
        return
    points = shapely.points(np.array(painted))
    for approach in approaches:
        band = shapely.union_all(
            np.array([_band(town, 0.0, _LOOK_BACK_M, index) for index in approach.records], dtype=object)
        )
        inside = np.flatnonzero(shapely.intersects(band, points))
        if len(inside):
            approach.is_painted = True
            approach.back_m = min(
                _before_end_m(town.records[approach.records[0]].joined("centre_m"), painted[i]) for i in inside
            )


def _before_end_m(line: FloatArray, point: FloatArray) -> float:
    shape = shapely.linestrings(line[:, :2])
    return float(max(shapely.length(shape) - shapely.line_locate_point(shape, shapely.points(point)), 0.0))


def _add_crossings(town: TownLanes, approaches: list[_Approach], crossings: Layer) -> None:
    """Add the crossings behind each stop line, and stop lines before crossings without another reason."""
    if not len(crossings):
        return
    tree = shapely.STRtree(crossings.shapes)
    for approach in approaches:
        line = town.records[approach.records[0]].joined("centre_m")
        reach_m = approach.back_m + 0.1 if approach.is_painted else _CROSSING_BACK_M
        bands = [_band(town, 0.0, reach_m, index) for index in approach.records]
        near = shapely.union_all(np.array(bands, dtype=object))
        heading = _heading(town, approach)
        for row in sorted(tree.query(shapely.buffer(near, _NEAR_M), predicate="intersects").tolist()):
            shape = crossings.shapes[row]
            if not _lies_across(shape, heading):
                continue
            approach.crossings.append(crossings.tokens[row])
            before = shapely.get_coordinates(shapely.intersection(shape, near))
            if len(before) and not approach.is_painted:  # stop before the crossing
                far_m = max(_before_end_m(line, point) for point in before)
                approach.back_m = max(approach.back_m, far_m + _GAP_M)
        if approach.crossings and not approach.reasons:
            approach.reasons.add("PED_CROSSING")


def _heading(town: TownLanes, approach: _Approach) -> FloatArray:
    line = town.records[approach.records[0]].joined("centre_m")[:, :2]
    ahead = line[-1] - line[-2]
    return np.asarray(ahead / max(float(np.linalg.norm(ahead)), 1e-9))


def _lies_across(shape: Any, heading: FloatArray) -> bool:
    """Return whether the long side of a crossing is across a direction."""
    corners = shapely.get_coordinates(shapely.oriented_envelope(shape))
    sides = np.diff(corners, axis=0)
    if not len(sides):
        return False
    longest = sides[np.argmax(np.linalg.norm(sides, axis=1))]
    return bool(abs(longest @ heading) < 0.72 * np.linalg.norm(longest))


def _stop_lines(town: TownLanes, approaches: list[_Approach]) -> Iterator[tuple[str, Any, JsonDict]]:
    for approach in approaches:
        kind = next((k for k in ("TRAFFIC_LIGHT", "STOP_SIGN", "YIELD", "PED_CROSSING") if k in approach.reasons), None)
        if kind is None:
            continue
        begin = approach.back_m
        bands = [_band(town, begin, begin + _DEEP_M, index) for index in approach.records]
        shape = parts_of(shapely.union_all(np.array(bands, dtype=object), grid_size=1e-3))
        if not shape:
            continue
        z = town.records[approach.records[0]].joined("centre_m")[-1:]
        yield (
            town.token("stop_line", approach.block),
            shape[0],
            {
                "stop_line_type": kind,
                "ped_crossing_tokens": approach.crossings,
                "traffic_light_tokens": approach.lights,
                "road_block_token": approach.block,
                "uav_lane_tokens": [town.tokens[index] for index in approach.records],
                **heights_of(z),
            },
        )


def _band(town: TownLanes, near_m: float, far_m: float, index: int) -> Any:
    """Return the polygon of a lane between two distances before its end."""
    record = town.records[index]
    cut = [_cut(record.joined(side), near_m, far_m) for side in ("left_m", "right_m")]
    return polygons_of([np.concatenate([cut[1], cut[0][::-1]])])[0]


def _cut(line: FloatArray, near_m: float, far_m: float) -> FloatArray:
    """Return the (M, 3) points of a line between two distances before its end."""
    s = lengths_m(line)
    low, high = max(s[-1] - far_m, 0.0), max(s[-1] - near_m, min(s[-1], 0.1))
    at = np.concatenate([[low], s[(s > low) & (s < high)], [high]])
    return points_at(at, s, line)
