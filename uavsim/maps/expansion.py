"""nuScenes' map expansion 1.3: writer and reader of the JSON file.

Nodes have an additional ``z`` and records additional fields ``uav_...``, which the devkit ignores.
Source: nuscenes-devkit, map_expansion/map_api.py.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import Any, Final

import numpy as np
import orjson
import shapely

from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.maps.vector_map import Border, Layer, VectorMap
from uavsim.records.road_map import BUILDINGS, LINE_LAYERS, POLYGON_LAYERS
from uavsim.typing import FloatArray, JsonDict

VERSION: Final = "1.3"
_CHUNK_BYTES: Final = 1 << 22


def expansion_json(town: VectorMap) -> bytes:
    """Return the bytes of the file; equal maps give equal bytes."""
    return b"".join(expansion_chunks(town))


def expansion_chunks(town: VectorMap) -> Iterator[bytes]:
    """Yield the bytes of the file in chunks; temporary files hold rows of later tables."""
    with ExitStack() as stack:
        writer = _Writer(stack)
        for name in _written(town):
            layer = town.layer(name)
            rows = writer.rows(name)
            for key, shape, fields in zip(layer.tokens, layer.shapes, layer.fields, strict=True):
                if name in LINE_LAYERS:
                    rows.add(writer.line_record(key, shape, fields, town.dividers.get(key), name))
                else:
                    record = writer.polygon_record(name, key, shape, fields)
                    rows.add(writer.with_borders(record, *town.borders[key]) if key in town.borders else record)
        west, south, east, north = town.bounds_m
        head = {
            "version": VERSION,
            "uav_town": town.name,
            "uav_bounds_m": [west, south, east, north],
            "canvas_edge": [float(max(math.ceil(east), 1)), float(max(math.ceil(north), 1))],
        }
        yield orjson.dumps(head)[:-1]
        for name in ("node", "line", "polygon", *_written(town)):
            yield from writer.rows(name).chunks(name)
        links = {key: {"incoming": before, "outgoing": after} for key, (before, after) in town.connectivity.items()}
        yield b"," + orjson.dumps({"arcline_path_3": town.paths, "connectivity": links})[1:]


def _written(town: VectorMap) -> list[str]:
    """Return the layers of the file: nuScenes' layers, and buildings if there are any."""
    return [name for name in (*POLYGON_LAYERS, *LINE_LAYERS) if name != BUILDINGS or len(town.layer(name))]


class _Rows:
    """The rows of one table as JSON; many rows are in a temporary file."""

    def __init__(self, stack: ExitStack) -> None:
        self._file = stack.enter_context(SpooledTemporaryFile(max_size=_CHUNK_BYTES))  # noqa: SIM115 - closed by the stack
        self._separator = b""

    def add(self, *rows: JsonDict) -> None:
        if rows:
            self._file.write(self._separator + orjson.dumps(rows)[1:-1])
            self._separator = b","

    def chunks(self, name: str) -> Iterator[bytes]:
        self._file.seek(0)
        yield f',"{name}":['.encode("ascii")
        yield from iter(lambda: self._file.read(_CHUNK_BYTES), b"")
        yield b"]"


class _Writer:
    """A writer of nodes, lines, polygons and records."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._tables: dict[str, _Rows] = {}

    def rows(self, name: str) -> _Rows:
        if name not in self._tables:
            self._tables[name] = _Rows(self._stack)
        return self._tables[name]

    def polygon_record(self, layer: str, key: str, shape: Any, fields: JsonDict) -> JsonDict:
        names = [self._polygon(key, number, part) for number, part in enumerate(shapely.get_parts(shape))]
        polygons = {"polygon_tokens": names} if layer == "drivable_area" else {"polygon_token": names[0]}
        return {"token": key, **polygons, **fields}

    def line_record(self, key: str, shape: Any, fields: JsonDict, paint: list[str] | None, layer: str) -> JsonDict:
        nodes, line = self._line(key, "line", shapely.get_coordinates(shape, include_z=True))
        segments_key = "uav_divider_segments" if layer == "road_divider" else "lane_divider_segments"
        segments = {} if paint is None else {segments_key: _segments(nodes, paint)}
        return {"token": key, "line_token": line, **segments, **fields}

    def with_borders(self, record: JsonDict, left: Border, right: Border) -> JsonDict:
        """Add borders with paint, and lines across begin and end, to a lane's record; returns the record."""
        key = record["token"]
        for side, border in (("left", left), ("right", right)):
            nodes = self._nodes(key, side, border.points_m)
            record[f"{side}_lane_divider_segments"] = _segments(nodes, border.types)
        for end, index in (("from", 0), ("to", -1)):
            _, line = self._line(key, end, np.stack([left.points_m[index], right.points_m[index]]))
            record[f"{end}_edge_line_token"] = line
        return record

    def _polygon(self, key: str, number: int, shape: Any) -> str:
        name = token(key, "polygon", number)
        rings = [
            self._nodes(key, f"{number}.{ring}", _open_ring(shapely.get_coordinates(line, include_z=True)))
            for ring, line in enumerate(shapely.get_rings(shape))
        ]
        holes = [{"node_tokens": ring} for ring in rings[1:]]
        self.rows("polygon").add({"token": name, "exterior_node_tokens": rings[0], "holes": holes})
        return name

    def _line(self, key: str, part: str, points: FloatArray) -> tuple[list[str], str]:
        name, nodes = token(key, part), self._nodes(key, part, points)
        self.rows("line").add({"token": name, "node_tokens": nodes})
        return nodes, name

    def _nodes(self, key: str, part: str, points: FloatArray) -> list[str]:
        begin = token(key, part, "nodes")[:26]  # 26 digits of the owner, 6 of the number
        names = [f"{begin}{number:06x}" for number in range(len(points))]
        heights = np.nan_to_num(points[:, 2]) if points.shape[1] > 2 else np.zeros(len(points))
        rounded = np.round(np.column_stack([points[:, :2], heights]), 4).tolist()
        nodes = [{"token": name, "x": x, "y": y, "z": z} for name, (x, y, z) in zip(names, rounded, strict=True)]
        self.rows("node").add(*nodes)
        return names


def _open_ring(points: FloatArray) -> FloatArray:
    """Return a ring's points without the last one and without duplicates; at least three points."""
    flat = np.round(points[:, :2], 4)
    distinct = points[:-1][np.any(flat[1:] != flat[:-1], axis=1)]
    return distinct if len(distinct) > 2 else points[:-1]


def _segments(nodes: list[str], paint: list[str]) -> list[JsonDict]:
    return [{"node_token": node, "segment_type": kind} for node, kind in zip(nodes, paint, strict=True)]


def read_expansion(data: bytes, *, name: str) -> VectorMap:
    """Read a map expansion of uavsim or nuScenes.

    Args:
        data: bytes of the file.
        name: name of the town, also in messages.

    Raises:
        DatasetError: the file is not a map expansion.
    """
    try:
        return _Reader(orjson.loads(data)).vector_map(name)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, shapely.errors.ShapelyError) as error:
        raise DatasetError(f"{name}: not a map expansion of nuScenes: {type(error).__name__}: {error}") from error


class _Reader:
    """A reader that resolves tokens to shapes."""

    def __init__(self, tables: JsonDict) -> None:
        self.tables = tables
        self.xyz = {node["token"]: (node["x"], node["y"], node.get("z", 0.0)) for node in tables["node"]}
        self.lines = {line["token"]: line["node_tokens"] for line in tables["line"]}
        self.polygons = {polygon["token"]: polygon for polygon in tables["polygon"]}

    def points(self, nodes: list[str]) -> FloatArray:
        return np.array([self.xyz[node] for node in nodes], dtype=np.float64).reshape(-1, 3)

    def polygon(self, key: str) -> Any:
        row = self.polygons[key]
        holes = [
            shapely.linearrings(self.points(hole["node_tokens"]))
            for hole in row["holes"]
            if len(hole["node_tokens"]) > 2
        ]
        return shapely.polygons(self.points(row["exterior_node_tokens"]), holes=holes or None)

    def layer(self, name: str, shape_of: Callable[[JsonDict], Any]) -> Layer:
        rows = self.tables.get(name, [])
        return Layer.of(
            (row["token"], shape_of(row), {k: v for k, v in row.items() if k not in _STRUCTURAL_KEYS}) for row in rows
        )

    def areas(self, row: JsonDict) -> Any:
        return shapely.multipolygons([self.polygon(key) for key in row["polygon_tokens"]])

    def line(self, row: JsonDict) -> Any:
        return shapely.linestrings(self.points(self.lines[row["line_token"]]))

    def border(self, row: JsonDict, side: str) -> Border:
        segments = row.get(f"{side}_lane_divider_segments", [])
        nodes = [segment["node_token"] for segment in segments]
        return Border(self.points(nodes), [segment["segment_type"] for segment in segments])

    def vector_map(self, name: str) -> VectorMap:
        layers = {
            kind: self.layer(kind, self.areas)
            if kind == "drivable_area"
            else self.layer(kind, lambda row: self.polygon(row["polygon_token"]))
            for kind in POLYGON_LAYERS
        }
        layers |= {kind: self.layer(kind, self.line) for kind in LINE_LAYERS}
        lanes = [*self.tables.get("lane", []), *self.tables.get("lane_connector", [])]
        paint = {
            row["token"]: [segment["segment_type"] for segment in row[key]]
            for kind, key in (("lane_divider", "lane_divider_segments"), ("road_divider", "uav_divider_segments"))
            for row in self.tables.get(kind, [])
            if key in row
        }
        return VectorMap(
            name,
            layers,
            {row["token"]: (self.border(row, "left"), self.border(row, "right")) for row in lanes},
            paint,
            self.tables["arcline_path_3"],
            {key: (row["incoming"], row["outgoing"]) for key, row in self.tables["connectivity"].items()},
        )


_STRUCTURAL_KEYS: Final = frozenset(
    {
        "token", "polygon_token", "polygon_tokens", "line_token", "left_lane_divider_segments", "right_lane_divider_segments",
        "lane_divider_segments", "uav_divider_segments", "from_edge_line_token", "to_edge_line_token",
    }
)  # fmt: skip
