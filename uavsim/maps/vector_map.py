"""A town's roads as layers of shapes, as in nuScenes' map expansion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import shapely

from uavsim.geometry.geographic import DEFAULT_ORIGIN_DEG_M, GeographicOrigin
from uavsim.records.road_map import BUILDINGS
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict

Shapes: TypeAlias = npt.NDArray[np.object_]
"""(N,) shapely geometries."""


@dataclass(frozen=True, slots=True, eq=False)
class Border:
    """A line of (N, 3) map points, metres, with the N paints after each point, such as ``SINGLE_SOLID_WHITE``."""

    points_m: FloatArray
    types: list[str]


@dataclass(slots=True, eq=False)
class Layer:
    """The records of one layer.

    Attributes:
        tokens: N tokens.
        shapes: (N,) polygons or lines in the map frame, with heights; drivable areas may be multipolygons.
        fields: N dictionaries of nuScenes' other fields; additional ones begin with ``uav_``.
    """

    tokens: list[str] = field(default_factory=list)
    shapes: Shapes = field(default_factory=lambda: np.empty(0, dtype=object))
    fields: list[JsonDict] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    @staticmethod
    def of(records: Iterable[tuple[str, Any, JsonDict]]) -> Layer:
        """Return a layer of (token, shape, fields) records."""
        rows = list(records)
        shapes = np.empty(len(rows), dtype=object)
        shapes[:] = [shape for _, shape, _ in rows]
        return Layer([token for token, _, _ in rows], shapes, [fields for _, _, fields in rows])


@dataclass(eq=False)
class VectorMap:
    """The vector map of a town.

    Attributes:
        name: name of the town.
        layers: layers by nuScenes' names.
        borders: left and right border of lanes and connectors by token, in the direction of traffic.
        dividers: paint of road and lane dividers by token.
        paths: centre lines by token as nuScenes' arcs.
        connectivity: incoming and outgoing lanes by token, in the order of the file.
        warnings: omitted parts of the source.
        cuts: indices of border points of lanes and connectors by token, at which neighbouring lanes or paint change.
        origin_deg_m: geographic origin of the map frame.
    """

    name: str
    layers: dict[str, Layer]
    borders: dict[str, tuple[Border, Border]] = field(default_factory=dict)
    dividers: dict[str, list[str]] = field(default_factory=dict)
    paths: dict[str, list[JsonDict]] = field(default_factory=dict)
    connectivity: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    cuts: dict[str, list[int]] = field(default_factory=dict)
    origin_deg_m: GeographicOrigin = DEFAULT_ORIGIN_DEG_M
    _trees: dict[str, Any] = field(default_factory=dict, repr=False)

    def layer(self, name: str) -> Layer:
        """Return a layer; an empty one if the map lacks it."""
        return self.layers.get(name, Layer())

    @cached_property
    def bounds_m(self) -> tuple[float, float, float, float]:
        """West, south, east and north end of all layers but buildings, metres."""
        layers = [layer for name, layer in self.layers.items() if name != BUILDINGS and len(layer)]
        bounds = [shapely.total_bounds(layer.shapes) for layer in layers]
        table = np.array(bounds).reshape(-1, 4)
        if not len(table):
            return (0.0, 0.0, 0.0, 0.0)
        low, high = np.round(np.nanmin(table[:, :2], axis=0), 4), np.round(np.nanmax(table[:, 2:], axis=0), 4)
        return (float(low[0]), float(low[1]), float(high[0]), float(high[1]))

    def shapes_map_m(self, layer: str) -> dict[str, list[FloatArray]]:
        """Return (N, 3) rings of polygons, outer ring first, or lines, of a layer by token, map frame, metres."""
        records = self.layer(layer)
        return {token: _rings(shape) for token, shape in zip(records.tokens, records.shapes, strict=True)}

    def shapes_near(self, layer: str, bounds_map_m: tuple[float, float, float, float]) -> list[list[FloatArray]]:
        """Return (N, 3) rings of a layer's shapes that touch a box (west, south, east, north), map frame, metres."""
        near = np.sort(self._tree(layer).query(shapely.box(*bounds_map_m)))
        return [_rings(part) for part in shapely.get_parts(self.layer(layer).shapes[near])]

    def records_at(self, points_map_m: FloatArray, layer: str) -> tuple[IntArray, IntArray]:
        """Return the records of a layer that contain points.

        Args:
            points_map_m: (N, 2) or (N, 3) points in the map frame, metres.
            layer: one of ``POLYGON_LAYERS``.

        Returns:
            (P,) indices of points, ascending, and (P,) indices of records.
        """
        points = shapely.points(np.asarray(points_map_m, dtype=np.float64)[:, :2])
        which, found = self._tree(layer).query(points, predicate="intersects")
        order = np.lexsort((found, which))
        return which[order], found[order]

    def lane_at(self, points_map_m: FloatArray) -> list[str | None]:
        """Return the token of the lane, else of the connector, at (N, 2 or 3) map points, metres; None beside all lanes.

        If lanes lie above each other, points with heights get the lane of the nearest height.
        """
        points = np.asarray(points_map_m, dtype=np.float64)
        tokens: list[str | None] = [None] * len(points)
        for name in ("lane_connector", "lane"):
            layer = self.layer(name)
            which, found = self.records_at(points, name)
            if points.shape[1] > 2 and len(which):
                heights = np.array([layer.fields[row].get("uav_height_m", [0.0, 0.0]) for row in found]).mean(axis=1)
                order = np.lexsort(
                    (-np.abs(heights - points[which, 2]), which)
                )  # the nearest last, which overwrites others
                which, found = which[order], found[order]
            for point, row in zip(which.tolist(), found.tolist(), strict=True):
                tokens[point] = layer.tokens[row]
        return tokens

    def is_drivable(self, points_map_m: FloatArray) -> BoolArray:
        """Return (N,) bool, True for (N, 2 or 3) map points, metres, in the drivable area."""
        inside = np.zeros(len(points_map_m), dtype=np.bool_)
        inside[self.records_at(points_map_m, "drivable_area")[0]] = True
        return inside

    def heights_map_m(self, layer: str) -> dict[str, tuple[float, float]]:
        """Return the height range of records of a layer by token, metres; records without ``uav_height_m`` are left out."""
        records = self.layer(layer)
        return {
            token: (row["uav_height_m"][0], row["uav_height_m"][1])
            for token, row in zip(records.tokens, records.fields, strict=True)
            if "uav_height_m" in row
        }

    def roof_map_m(self, points_map_m: FloatArray) -> FloatArray:
        """Return (N,) heights of the highest roof above (N, 2 or 3) map points, metres; NaN outside buildings."""
        which, found = self.records_at(points_map_m, BUILDINGS)
        tops = np.array([row["uav_height_m"][1] for row in self.layer(BUILDINGS).fields])
        roofs = np.full(len(points_map_m), np.nan)
        np.fmax.at(roofs, which, tops[found])
        return roofs

    def distance_m(self, points_map_m: FloatArray, layer: str, *, having: str = "") -> FloatArray:
        """Return (N,) horizontal distances to the nearest shape of a layer, metres, 0 inside; infinite for an empty layer.

        Args:
            points_map_m: (N, 2) or (N, 3) points in the map frame, metres.
            layer: name of the layer.
            having: only use records with this field true, for instance ``is_intersection``.
        """
        points = shapely.points(np.asarray(points_map_m, dtype=np.float64)[:, :2])
        records = self.layer(layer)
        key = f"{layer} {having}"
        if key not in self._trees:
            rows = [row for row, fields in enumerate(records.fields) if not having or fields.get(having)]
            self._trees[key] = shapely.STRtree(records.shapes[rows])
        distances = np.full(len(points), np.inf)
        if len(points) and len(self._trees[key]):
            (which, _), distance = self._trees[key].query_nearest(points, return_distance=True, all_matches=False)
            distances[which] = distance
        return distances

    def border_distance_m(self, points_map_m: FloatArray) -> FloatArray:
        """Return (N,) signed distances of (N, 2 or 3) map points to the drivable area's border, positive inside, metres."""
        areas = self.layer("drivable_area").shapes
        points = shapely.points(np.asarray(points_map_m, dtype=np.float64)[:, :2])
        if not len(areas):
            return np.full(len(points), -np.inf)
        if "border" not in self._trees:
            self._trees["border"] = shapely.STRtree(shapely.boundary(areas))
        (which, _), distance = self._trees["border"].query_nearest(points, return_distance=True, all_matches=False)
        distances = np.empty(len(points))
        distances[which] = distance
        return np.where(self.is_drivable(points_map_m), distances, -distances)

    def centre_line_m(self, token: str, *, step_m: float = 1.0) -> FloatArray:
        """Return (N, 3) x, y, yaw along a lane's centre line, map frame, metres and radians, at most ``step_m`` apart."""
        rows = []
        for path in self.paths[token]:
            length = sum(path["segment_length"])
            bent = (1.0 if path["shape"] == "LSL" else -1.0) / path["radius"] if path["segment_length"][0] else 0.0
            s = np.linspace(0.0, length, max(2, int(np.ceil(length / step_m)) + 1))
            half = bent * s / 2
            chord = s * np.sinc(half / np.pi)
            x, y, yaw = path["start_pose"]
            rows.append(
                np.stack([x + chord * np.cos(yaw + half), y + chord * np.sin(yaw + half), yaw + 2 * half], axis=1)
            )
        return np.concatenate([rows[0], *(row[1:] for row in rows[1:])])

    def centre_lines_map_m(self, *, step_m: float = 1.0) -> dict[str, FloatArray]:
        """Return (N, 3) x, y, yaw along each lane and connector by token, see ``centre_line_m``."""
        return {token: self.centre_line_m(token, step_m=step_m) for token in self.paths}

    def shifted(self, dx_m: float, dy_m: float) -> VectorMap:
        """Return the map moved by an offset."""
        off = np.array([dx_m, dy_m, 0.0])

        def moved(layer: Layer) -> Layer:
            shapes = shapely.transform(layer.shapes, lambda p: p + off[: p.shape[1]], include_z=None)
            fields = [
                {**row, "pose": {**row["pose"], "tx": row["pose"]["tx"] + dx_m, "ty": row["pose"]["ty"] + dy_m}}
                if "pose" in row
                else row
                for row in layer.fields
            ]
            return Layer(layer.tokens, shapes, fields)

        def moved_path(path: JsonDict) -> JsonDict:
            ends = {key: [path[key][0] + dx_m, path[key][1] + dy_m, path[key][2]] for key in ("start_pose", "end_pose")}
            return {**path, **ends}

        return VectorMap(
            self.name,
            {name: moved(layer) for name, layer in self.layers.items()},
            {
                k: (Border(a.points_m + off, a.types), Border(b.points_m + off, b.types))
                for k, (a, b) in self.borders.items()
            },
            self.dividers,
            {token: [moved_path(path) for path in paths] for token, paths in self.paths.items()},
            self.connectivity,
            self.warnings,
            self.cuts,
            self.origin_deg_m,
        )

    def _tree(self, layer: str) -> Any:
        if layer not in self._trees:
            self._trees[layer] = shapely.STRtree(self.layer(layer).shapes)
        return self._trees[layer]


def _rings(shape: Any) -> list[FloatArray]:
    """Return the (N, 3) rings of polygons, or a line, in metres; unknown heights are 0."""
    parts = shapely.get_rings(shapely.get_parts(shape)) if shapely.get_dimensions(shape) == 2 else [shape]
    return [np.nan_to_num(shapely.get_coordinates(part, include_z=True)) for part in parts]


def polygons_of(rings: Sequence[FloatArray]) -> Shapes:
    """Return valid polygons of (N, 3) rings, see ``valid``."""
    if not rings:
        return np.empty(0, dtype=object)
    which = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    return valid(shapely.polygons(shapely.linearrings(np.concatenate(rings), indices=which)))


def valid(shapes: Shapes) -> Shapes:
    """Return (N,) polygons with heights, invalid ones replaced by their largest valid part."""
    shapes = np.array(shapes, dtype=object)
    for index in np.flatnonzero(~shapely.is_valid(shapes)):
        parts = shapely.get_parts(shapely.make_valid(shapes[index]))
        parts = parts[shapely.get_type_id(parts) == 3]
        if len(parts):
            shapes[index] = parts[np.argmax(shapely.area(parts))]
        else:  # a lane without width becomes a thin strip
            shapes[index] = shapely.buffer(shapes[index], 1e-4, quad_segs=1)
            shapes[index] = (
                shapes[index] if shapely.get_type_id(shapes[index]) == 3 else shapely.envelope(shapes[index])
            )
    return shapes
