"""Kernels that draw the sheared height maps of ``shadow``."""

# ruff: noqa: PLR0917 (kernels take their buffers by place)
from __future__ import annotations

import math

import numpy as np

from headless_simulator.jit import Number, kernel
from headless_simulator.scene import Float32, Float64, Int32, UInt16


@kernel()
def _raise_triangle(heights: UInt16, columns: Number, rows: Number, p: Float64) -> None:
    """Raise the map to a triangle; ``p`` is (3, 3): u, v (texels) and level of each corner."""
    x0, y0, z0, x1, y1, z1, x2, y2, z2 = p[0, 0], p[0, 1], p[0, 2], p[1, 0], p[1, 1], p[1, 2], p[2, 0], p[2, 1], p[2, 2]
    top = max(z0, max(z1, z2))
    if y1 < y0:
        x0, y0, z0, x1, y1, z1 = x1, y1, z1, x0, y0, z0
    if y2 < y1:
        x1, y1, z1, x2, y2, z2 = x2, y2, z2, x1, y1, z1
        if y1 < y0:
            x0, y0, z0, x1, y1, z1 = x1, y1, z1, x0, y0, z0
    first, last = max(0, math.ceil(y0 - 0.5)), min(rows, math.ceil(y2 - 0.5))
    if first >= last:
        return
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if abs(area) < 1e-9:
        return
    gain_x = ((z1 - z0) * (y2 - y0) - (z2 - z0) * (y1 - y0)) / area
    gain_y = ((x1 - x0) * (z2 - z0) - (x2 - x0) * (z1 - z0)) / area
    for row in range(first, last):
        y = row + 0.5
        a = x0 + (y - y0) * (x2 - x0) / (y2 - y0)
        b = (
            x0 + (y - y0) * (x1 - x0) / (y1 - y0)
            if y < y1
            else x1 + ((y - y1) * (x2 - x1) / (y2 - y1) if y2 > y1 else 0.0)
        )
        start = max(0, math.ceil(min(a, b) - 0.5))
        stop = min(columns, math.ceil(max(a, b) - 0.5))
        level = z0 + gain_x * (start + 0.5 - x0) + gain_y * (y - y0)
        for column in range(start, stop):
            value = np.uint16(min(max(min(level, top), 0.0), 65535.0))
            at = row * columns + column
            heights[at] = max(heights[at], value)
            level += gain_x


@kernel()
def draw_town_heights(heights: UInt16, frame: Float32, points_m: Float32, corners: Int32, casters: Int32) -> None:
    """Raise the map to triangles of the town.

    Args:
        heights: (rows * columns,) uint16 the map, changed.
        frame: (10,) frame of the map.
        points_m: (3, V) vertices, world, metres.
        corners: (T, 3) vertex numbers of the triangles.
        casters: (C,) numbers of the triangles that cast shadows.
    """
    columns, rows = int(frame[5]), int(frame[6])
    p = np.empty((3, 3))
    for i in range(casters.shape[0]):
        for c in range(3):
            at = corners[casters[i], c]
            z = np.float64(points_m[2, at])
            p[c, 0] = (points_m[0, at] - z * frame[0] - frame[2]) * frame[4]
            p[c, 1] = (points_m[1, at] - z * frame[1] - frame[3]) * frame[4]
            p[c, 2] = (z - frame[7]) * frame[8]
        _raise_triangle(heights, columns, rows, p)


@kernel()
def draw_mover_heights(
    heights: UInt16,
    frame: Float32,
    world: Float64,
    model: Int32,
    points_m: Float32,
    corners: Int32,
    first_point: Int32,
    first_triangle: Int32,
) -> None:
    """Raise the map to all movers.

    Args:
        heights: (rows * columns,) uint16 the map.
        frame: (10,) frame of the map.
        world: (N, 3, 4) from each mover's frame to the world.
        model: (N,) row of each mover's model in the packed models.
        points_m: (3, V) vertices of all models, metres.
        corners: (T, 3) vertex numbers of the models' triangles.
        first_point: (M + 1,) first vertex of each model.
        first_triangle: (M + 1,) first triangle of each model.
    """
    columns, rows = int(frame[5]), int(frame[6])
    most = 0
    for kind in range(first_point.shape[0] - 1):
        most = max(most, first_point[kind + 1] - first_point[kind])
    placed = np.empty((most, 3))
    p = np.empty((3, 3))
    for m in range(world.shape[0]):
        kind = model[m]
        u0, v0, u1, v1 = 1e9, 1e9, -1e9, -1e9
        for i in range(first_point[kind + 1] - first_point[kind]):
            at = first_point[kind] + i
            x = (
                world[m, 0, 0] * points_m[0, at]
                + world[m, 0, 1] * points_m[1, at]
                + world[m, 0, 2] * points_m[2, at]
                + world[m, 0, 3]
            )
            y = (
                world[m, 1, 0] * points_m[0, at]
                + world[m, 1, 1] * points_m[1, at]
                + world[m, 1, 2] * points_m[2, at]
                + world[m, 1, 3]
            )
            z = (
                world[m, 2, 0] * points_m[0, at]
                + world[m, 2, 1] * points_m[1, at]
                + world[m, 2, 2] * points_m[2, at]
                + world[m, 2, 3]
            )
            u, v = (x - z * frame[0] - frame[2]) * frame[4], (y - z * frame[1] - frame[3]) * frame[4]
            placed[i, 0], placed[i, 1], placed[i, 2] = u, v, (z - frame[7]) * frame[8]
            u0, v0, u1, v1 = min(u0, u), min(v0, v), max(u1, u), max(v1, v)
        if not (u1 > 0.0 and v1 > 0.0 and u0 < columns and v0 < rows and u1 - u0 < 4e3 and v1 - v0 < 4e3):
            continue  # off the map, or its pose is not finite
        for t in range(first_triangle[kind], first_triangle[kind + 1]):
            for c in range(3):
                for axis in range(3):  # numba compiles an assignment of whole rows much slower
                    p[c, axis] = placed[corners[t, c] - first_point[kind], axis]
            _raise_triangle(heights, columns, rows, p)
