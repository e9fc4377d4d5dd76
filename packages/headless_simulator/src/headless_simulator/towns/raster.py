"""Exact vectorised rasterisation of triangles from above onto a regular grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.scene import Float32, Float64, Int32
from headless_simulator.towns.arrays import Ints

_CHUNK: Final = 2_000_000  # grid points per batch
_GROW: Final = 1e-6  # tolerance outside a triangle, in barycentric weight


@dataclass(frozen=True, slots=True)
class Grid:
    """Points of a regular grid: ``low_m`` is (x, y) of row 0, column 0; rows run along y."""

    low_m: tuple[float, float]
    cell_m: float
    shape: tuple[int, int]

    @classmethod
    def around(cls, low_m: Float64, high_m: Float64, cell_m: float) -> Grid:
        """Return the grid of the rectangle between (2,) corners, metres, with points at multiples of the cell."""
        low = np.floor(np.asarray(low_m) / cell_m) * cell_m
        columns, rows = (np.ceil((np.asarray(high_m) - low) / cell_m).astype(int) + 1).tolist()
        return cls((float(low[0]), float(low[1])), cell_m, (int(rows), int(columns)))

    def axes_m(self) -> tuple[Float64, Float64]:
        """Return (X,) x of the columns and (Y,) y of the rows, metres."""
        rows, columns = self.shape
        x = self.low_m[0] + self.cell_m * np.arange(columns, dtype=np.float64)
        return x, self.low_m[1] + self.cell_m * np.arange(rows, dtype=np.float64)

    def pixels(self, xy_m: Float64) -> tuple[Int32, Int32]:
        """Return (...,) nearest rows and columns of (..., 2) points, clipped to the grid."""
        cell = np.rint((np.asarray(xy_m) - self.low_m) / self.cell_m).astype(np.int32)
        return np.clip(cell[..., 1], 0, self.shape[0] - 1), np.clip(cell[..., 0], 0, self.shape[1] - 1)


def bilinear(grid: Grid, field: Float32 | Float64, xy_m: Float64) -> Float64:
    """Return (...,) bilinear values of a (Y, X) field at (..., 2) points, clipped to the grid."""
    cell = (np.asarray(xy_m, dtype=np.float64) - grid.low_m) / grid.cell_m
    column = np.clip(cell[..., 0], 0, grid.shape[1] - 1.001)
    row = np.clip(cell[..., 1], 0, grid.shape[0] - 1.001)
    j, i = column.astype(np.int64), row.astype(np.int64)
    u, v = column - j, row - i
    upper = field[i, j] * (1 - u) + field[i, j + 1] * u
    lower = field[i + 1, j] * (1 - u) + field[i + 1, j + 1] * u
    return np.asarray(upper * (1 - v) + lower * v, dtype=np.float64)


def draw(grid: Grid, triangles: Float64) -> tuple[Int32, Float64, Int32]:
    """Return every grid point under every triangle.

    Args:
        grid: the grid.
        triangles: (N, 3, 3) corners, metres.

    Returns:
        (M,) flat number of the grid point, (M,) height there on the triangle's plane, (M,) number of the triangle;
        ordered by triangle size class, then by triangle.
    """
    if not len(triangles):
        return np.empty(0, np.int32), np.empty(0), np.empty(0, np.int32)
    cells = (triangles[..., :2] - grid.low_m) / grid.cell_m
    low = np.ceil(cells.min(axis=1) - 1e-6).astype(np.int64)
    size = np.floor(cells.max(axis=1) + 1e-6).astype(np.int64) - low + 1
    side = size.max(axis=1)
    parts: list[tuple[Int32, Float64, Int32]] = []
    edge = 1
    while True:
        group = np.flatnonzero((side > edge // 2 if edge > 1 else side > 0) & (side <= edge))
        per = max(1, _CHUNK // (edge * edge))
        parts += [_draw_group(grid, triangles, low, group[k : k + per], edge) for k in range(0, len(group), per)]
        if edge >= side.max():
            break
        edge *= 2
    flat, height, owner = (np.concatenate(column) for column in zip(*parts, strict=True)) if parts else _nothing()
    return flat, height, owner


def _nothing() -> tuple[Int32, Float64, Int32]:
    return np.empty(0, np.int32), np.empty(0), np.empty(0, np.int32)


def _draw_group(grid: Grid, triangles: Float64, low: Ints, group: Ints, edge: int) -> tuple[Int32, Float64, Int32]:
    step = np.arange(edge)
    columns = low[group, 0][:, None, None] + step[None, None, :]
    rows = low[group, 1][:, None, None] + step[None, :, None]
    x = grid.low_m[0] + columns * grid.cell_m
    y = grid.low_m[1] + rows * grid.cell_m
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (triangles[group, corner].T[:, :, None, None] for corner in range(3))
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    with np.errstate(divide="ignore", invalid="ignore"):
        v = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area
        w = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area
        inside = (v >= -_GROW) & (w >= -_GROW) & (v + w <= 1 + _GROW) & (np.abs(area) > 1e-9)
    inside &= (columns >= 0) & (columns < grid.shape[1]) & (rows >= 0) & (rows < grid.shape[0])
    which, i, j = np.nonzero(inside)
    height = az[which, 0, 0] + v[which, i, j] * (bz - az)[which, 0, 0] + w[which, i, j] * (cz - az)[which, 0, 0]
    flat = rows[which, i, 0] * grid.shape[1] + columns[which, 0, j]
    return flat.astype(np.int32), height, group[which].astype(np.int32)
