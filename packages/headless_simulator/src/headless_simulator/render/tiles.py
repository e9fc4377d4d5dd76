"""The static town in drawing order: ground tiles, each with its own vertices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from headless_simulator.scene import (
    ASPHALT,
    FOLIAGE,
    MAP_TILE_M,
    MATTE,
    PAINT,
    STATIC_ID,
    Float32,
    Float64,
    Int32,
    Mesh,
    Tile,
    UInt8,
    UInt32,
)

TILE_M: Final = 24.0
_PAINTED: Final = (MATTE, ASPHALT, PAINT, FOLIAGE)
_LARGE_M: Final = 60.0  # wider triangles get separate tiles, since they would widen a tile's box


@dataclass(frozen=True, slots=True, eq=False)
class StaticScene:
    """A town's triangles, sorted by tile.

    Attributes:
        points_m: (3, V) float32, one row per axis; a tile's vertices are contiguous.
        corners: (T, 3) int32.
        tile_box_m: (N, 6) low x, y, z, high x, y, z.
        tile_points: (N + 1,) first vertex of each tile.
        tile_triangles: (N + 1,) first triangle of each tile.
        surface: (T, 6) float32 linear albedo r, g, b and unit normal.
        material: (T,) uint8.
        tag: (T,) uint8.
        ids: (T,) uint32 as in ``RenderedImage.ids``.
        seed: (T,) uint8 seed that selects windows lit at night, equal for the triangles of one pane.
        scene_triangle: (T of the mesh,) int32 number in this scene of each triangle of the town's mesh.
    """

    points_m: Float32
    corners: Int32
    tile_box_m: Float64
    tile_points: Int32
    tile_triangles: Int32
    surface: Float32
    material: UInt8
    tag: UInt8
    ids: UInt32
    seed: UInt8
    scene_triangle: Int32

    @property
    def bounds_m(self) -> tuple[Float64, Float64]:
        """Return the (3,) lowest and (3,) highest corner of the town, metres."""
        if not len(self.tile_box_m):
            return np.zeros(3), np.zeros(3)
        return self.tile_box_m[:, :3].min(axis=0), self.tile_box_m[:, 3:].max(axis=0)

    def without(self, object_ids: frozenset[int]) -> StaticScene:
        """Return the scene with zero-area triangles for some objects; triangle numbers stay."""
        return self._but(np.isin(self.ids, np.array(sorted(object_ids), dtype=np.uint32) | np.uint32(STATIC_ID)))

    def streamed(self, map_tiles: frozenset[Tile]) -> StaticScene:
        """Return the scene with zero-area triangles outside some map tiles, by first corner."""
        cell = np.floor(self.points_m[:2, self.corners[:, 0]] / MAP_TILE_M).astype(np.int64)
        streamed = np.zeros(len(self.corners), np.bool_)
        for i, j in map_tiles:
            streamed |= (cell[0] == i) & (cell[1] == j)
        return self._but(~streamed)

    def untagged(self, tags: frozenset[int]) -> StaticScene:
        """Return the scene with zero-area triangles for some semantic tags; triangle numbers stay."""
        return self._but(np.isin(self.tag, sorted(tags)))

    def _but(self, gone: npt.NDArray[np.bool_]) -> StaticScene:
        corners = self.corners.copy()
        corners[gone] = corners[gone][:, :1]
        return replace(self, corners=corners)

    def painted(self, colours: Mapping[int, tuple[int, int, int]]) -> StaticScene:
        """Return the scene with new sRGB colours by object id; panes and lamps keep their colour."""
        ids = np.array(sorted(colours), dtype=np.uint32)
        row = np.searchsorted(ids | np.uint32(STATIC_ID), self.ids).clip(max=len(ids) - 1)
        selected = (self.ids == ids[row] | np.uint32(STATIC_ID)) & np.isin(self.material, _PAINTED)
        surface = self.surface.copy()
        surface[selected, :3] = linear(np.array([colours[int(i)] for i in ids], dtype=np.uint8))[row[selected]]
        return replace(self, surface=surface)


def _linear_of_byte(byte: int) -> float:
    value = byte / 255.0
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


_LINEAR: Final = np.array(
    [_linear_of_byte(byte) for byte in range(256)], np.float32
)  # NumPy's powers differ between processors


def linear(srgb: UInt8) -> Float32:
    """Convert (..., 3) sRGB bytes to linear float32 0..1."""
    return _LINEAR[srgb]


def srgb(linear_rgb: Float32) -> UInt8:
    """Convert (..., 3) linear float32 0..1 to the nearest uint8 sRGB."""
    return np.searchsorted((_LINEAR[1:] + _LINEAR[:-1]) / 2, linear_rgb).astype(np.uint8)


def unit_normals(mesh: Mesh) -> Float32:
    """Return (T, 3) float32 unit normals (b - a) x (c - a); zero for triangles without area."""
    a, b, c = (mesh.vertices_m[mesh.triangles[:, i]].astype(np.float64) for i in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    unit: Float32 = (normal / np.maximum(length, 1e-20)).astype(np.float32)
    return unit


def _pane_seeds(corners_m: Float32) -> UInt8:
    """Return (T,) hashes of the midpoint of each triangle's longest edge, which the halves of a rectangle share."""
    edges = corners_m - np.roll(corners_m, -1, axis=1)
    longest = (edges.astype(np.float64) ** 2).sum(axis=2).round(3).argmax(axis=1)
    rows = np.arange(len(corners_m))
    middle = corners_m[rows, longest].astype(np.float64) + corners_m[rows, (longest + 1) % 3]
    cell = np.round(middle * 10).astype(np.int64)
    mixed = (cell[:, 0] * 73856093) ^ (cell[:, 1] * 19349663) ^ (cell[:, 2] * 83492791)
    mixed = (mixed ^ (mixed >> 13)) * 1274126177
    seed: UInt8 = ((mixed ^ (mixed >> 16)) & 0xFF).astype(np.uint8)
    return seed


def sort_into_tiles(mesh: Mesh) -> StaticScene:
    """Sort a town's mesh by tile."""
    count = len(mesh.triangles)
    corner_points = mesh.vertices_m[mesh.triangles]  # (T, 3, 3)
    low, high = corner_points.min(axis=1), corner_points.max(axis=1)
    cell = np.floor((low[:, :2] + high[:, :2]) / (2 * TILE_M)).astype(np.int64)
    key = (cell[:, 0] + 4096) * 8192 + cell[:, 1] + 4096
    large = (high - low)[:, :2].max(axis=1) > _LARGE_M if count else np.zeros(0, dtype=bool)
    key = np.where(large, -1 - np.arange(count), key)  # each a tile of its own
    order = np.argsort(key, kind="stable").astype(np.int32)
    sorted_key = key[order]
    starts = np.flatnonzero(np.r_[True, sorted_key[1:] != sorted_key[:-1]]) if count else np.zeros(0, dtype=np.int64)
    bounds = np.r_[starts, count].astype(np.int32)
    triangles = mesh.triangles[order]
    tile_of = np.repeat(np.arange(len(starts)), np.diff(bounds))
    pair = tile_of.repeat(3) * np.int64(len(mesh.vertices_m) + 1) + triangles.reshape(-1)
    unique, inverse = np.unique(pair, return_inverse=True)
    vertex = unique % (len(mesh.vertices_m) + 1)
    tile_points = np.searchsorted(unique // (len(mesh.vertices_m) + 1), np.arange(len(starts) + 1)).astype(np.int32)
    box = np.zeros((len(starts), 6))
    if count:
        box[:, :3] = np.minimum.reduceat(low[order], starts, axis=0)
        box[:, 3:] = np.maximum.reduceat(high[order], starts, axis=0)
    scene_triangle = np.empty(count, dtype=np.int32)
    scene_triangle[order] = np.arange(count, dtype=np.int32)
    object_id = mesh.object_id[order].astype(np.uint32)
    return StaticScene(
        points_m=np.ascontiguousarray(mesh.vertices_m[vertex].T, dtype=np.float32),
        corners=np.ascontiguousarray(inverse.reshape(-1, 3), dtype=np.int32),
        tile_box_m=box,
        tile_points=tile_points,
        tile_triangles=bounds,
        surface=np.ascontiguousarray(np.hstack([linear(mesh.colour_rgb[order]), unit_normals(mesh)[order]])),
        material=np.ascontiguousarray(mesh.material[order]),
        tag=np.ascontiguousarray(mesh.tag[order]),
        ids=np.where(object_id > 0, object_id | np.uint32(STATIC_ID), np.uint32(0)).astype(np.uint32),
        seed=_pane_seeds(corner_points[order]),
        scene_triangle=scene_triangle,
    )
