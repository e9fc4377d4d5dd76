"""Ray casting through the triangles of the images, for lidar, semantic lidar and radar."""

# ruff: noqa: PLR0917 (kernels take their buffers by place)
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from headless_simulator.jit import Number, kernel
from headless_simulator.render.tiles import StaticScene
from headless_simulator.scene import Float32, Float64, Int32, UInt8, UInt32

_CELL_M: Final = 4.0
_MOST_CELLS: Final = 400_000
_WIDE_M: Final = 250.0
_SLACK_M: Final = 2e-3

Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RayGrid:
    """An index of the triangles above each ground cell.

    Attributes:
        frame: (5,) origin x, y, cell size (metres), columns, rows.
        first: (cells + 1,) int32 into ``members``.
        members: triangle numbers of the static scene.
        far: numbers of the triangles too wide for the grid; every ray tests them.
        corner_m: (T, 3, 3) float32 corners of each triangle.
        span_m: (T, 2) float32 lowest and highest z.
    """

    frame: Float64
    first: Int32
    members: Int32
    far: Int32
    corner_m: Float32
    span_m: Float32


def build_grid(scene: StaticScene) -> RayGrid:
    """Sort a scene's triangles into ground cells."""
    corner_m = np.ascontiguousarray(scene.points_m.T[scene.corners])
    wide = (corner_m.max(axis=1) - corner_m.min(axis=1))[:, :2].max(axis=1, initial=0.0) > _WIDE_M
    far = np.flatnonzero(wide).astype(np.int32)  # the land around the town would make the grid too large
    inside = corner_m[~wide] if (~wide).any() else np.zeros((1, 3, 3), dtype=np.float32)
    low, high = inside.min(axis=(0, 1)).astype(np.float64), inside.max(axis=(0, 1)).astype(np.float64)
    size_m = np.maximum(high[:2] - low[:2], 1.0)
    cell_m = max(_CELL_M, float(np.sqrt(size_m.prod() / _MOST_CELLS)))
    columns, rows = (int(n) for n in np.ceil(size_m / cell_m) + 1)
    frame = np.array([low[0], low[1], cell_m, columns, rows])
    counts = np.zeros(columns * rows, dtype=np.int32)
    _sort_into_cells(corner_m, wide, frame, counts, np.zeros(0, dtype=np.int32))
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    members = np.empty(int(first[-1]), dtype=np.int32)
    _sort_into_cells(corner_m, wide, frame, first[:-1].copy(), members)
    span_m = (
        np.stack([corner_m[:, :, 2].min(axis=1), corner_m[:, :, 2].max(axis=1)], axis=1)
        if len(corner_m)
        else np.zeros((0, 2))
    )
    return RayGrid(frame, first, members, far, corner_m, np.ascontiguousarray(span_m, dtype=np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The box around the origins of rays, (3,) corners in metres, and their range; unbounded if an origin is NaN."""

    low_m: Float64
    high_m: Float64
    reach_m: float

    @classmethod
    def of(cls, origins_m: Float64, reach_m: float) -> Bounds:
        """Return the bounds of (N, 3) origins, metres."""
        if not len(origins_m) or not np.isfinite(origins_m).all():
            return cls(np.full(3, -np.inf), np.full(3, np.inf), reach_m)
        return cls(origins_m.min(axis=0), origins_m.max(axis=0), reach_m)

    def apart_m(self, low_m: Float64, high_m: Float64) -> Float64:
        """Return (N,) least distances, metres, from an origin to boxes with (N, 3) corners."""
        gap_m = np.maximum(np.maximum(low_m - self.high_m, self.low_m - high_m), 0.0)
        return np.asarray(np.linalg.norm(gap_m, axis=1) - _SLACK_M)

    def far_triangles(self, grid: RayGrid) -> Int32:
        """Return the (F,) int32 numbers of the wide triangles in range."""
        corner_m = grid.corner_m[grid.far].astype(np.float64)
        return grid.far[self.apart_m(corner_m.min(axis=1), corner_m.max(axis=1)) <= self.reach_m]

    def movers(self, world: Float64, sphere: Float64) -> tuple[npt.NDArray[np.intp], Float64]:
        """Return (K,) numbers of the movers in range, nearest first, and their (K,) least distances, metres.

        Args:
            world: (N, 3, 4) from each mover's frame to the world.
            sphere: (N, 7) as in ``ModelPack.sphere``.
        """
        middle_m = (world[:, :, :3] @ sphere[:, :3, None])[:, :, 0] + world[:, :, 3]
        near_m = self.apart_m(middle_m, middle_m) - sphere[:, 3]
        order = np.argsort(near_m, kind="stable")
        order = order[near_m[order] <= self.reach_m]
        return order, near_m[order]


@kernel()
def _cells_of(corner_m: Float32, t: Number, frame: Float64) -> tuple[Number, Number, Number, Number]:
    x0 = min(corner_m[t, 0, 0], min(corner_m[t, 1, 0], corner_m[t, 2, 0]))
    x1 = max(corner_m[t, 0, 0], max(corner_m[t, 1, 0], corner_m[t, 2, 0]))
    y0 = min(corner_m[t, 0, 1], min(corner_m[t, 1, 1], corner_m[t, 2, 1]))
    y1 = max(corner_m[t, 0, 1], max(corner_m[t, 1, 1], corner_m[t, 2, 1]))
    slack = 1e-3
    return (
        max(0, int((x0 - slack - frame[0]) / frame[2])),
        max(0, int((y0 - slack - frame[1]) / frame[2])),
        min(int(frame[3]) - 1, int((x1 + slack - frame[0]) / frame[2])),
        min(int(frame[4]) - 1, int((y1 + slack - frame[1]) / frame[2])),
    )


@kernel()
def _meets(corner_m: Float32, t: Number, frame: Float64, column: Number, row: Number) -> bool:
    """Return whether a triangle's ground projection may touch a cell: no edge has the whole cell outside."""
    ax, ay = np.float64(corner_m[t, 0, 0]), np.float64(corner_m[t, 0, 1])
    bx, by = np.float64(corner_m[t, 1, 0]), np.float64(corner_m[t, 1, 1])
    cx, cy = np.float64(corner_m[t, 2, 0]), np.float64(corner_m[t, 2, 1])
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if abs(area) < 1e-6:
        return True
    side = 1.0 if area > 0 else -1.0
    half = 0.5 * frame[2] + 1e-3
    mx, my = frame[0] + (column + 0.5) * frame[2], frame[1] + (row + 0.5) * frame[2]
    for _ in range(3):
        nx, ny = -(by - ay) * side, (bx - ax) * side  # inwards
        if nx * (mx - ax) + ny * (my - ay) + half * (abs(nx) + abs(ny)) < 0:
            return False
        ax, ay, bx, by, cx, cy = bx, by, cx, cy, ax, ay
    return True


@kernel()
def _sort_into_cells(corner_m: Float32, wide: Flags, frame: Float64, counts: Int32, members: Int32) -> None:
    """Add each triangle to its cells: count it in ``counts``, and list it in ``members`` unless empty.

    Args:
        corner_m: (T, 3, 3) corners.
        wide: (T,) excluded triangles.
        frame: the grid's frame.
        counts: (cells,) entries of each cell before and after; with ``members``, the index of the cell's next entry.
        members: triangle numbers, cell by cell; empty in the first pass.
    """
    for t in range(corner_m.shape[0]):
        if wide[t]:
            continue
        c0, r0, c1, r1 = _cells_of(corner_m, t, frame)
        for row in range(r0, r1 + 1):
            for column in range(c0, c1 + 1):
                if _meets(corner_m, t, frame, column, row):
                    cell = row * int(frame[3]) + column
                    if members.shape[0]:
                        members[counts[cell]] = t
                    counts[cell] += 1


@kernel()
def _hit(
    ax: Number, ay: Number, az: Number, bx: Number, by: Number, bz: Number, cx: Number, cy: Number, cz: Number,
    ox: Number, oy: Number, oz: Number, dx: Number, dy: Number, dz: Number, front_only: bool,
) -> tuple[float, float]:  # fmt: skip
    """Return a unit ray's distance to a triangle, metres (inf: no hit), and the cosine between ray and normal."""
    e1x, e1y, e1z = bx - ax, by - ay, bz - az
    e2x, e2y, e2z = cx - ax, cy - ay, cz - az
    px, py, pz = dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x
    det = e1x * px + e1y * py + e1z * pz
    if abs(det) < 1e-14 or (front_only and det < 0.0):
        return np.inf, 0.0
    per = 1.0 / det
    tx, ty, tz = ox - ax, oy - ay, oz - az
    u = (tx * px + ty * py + tz * pz) * per
    if u < -1e-9 or u > 1.0 + 1e-9:
        return np.inf, 0.0
    qx, qy, qz = ty * e1z - tz * e1y, tz * e1x - tx * e1z, tx * e1y - ty * e1x
    v = (dx * qx + dy * qy + dz * qz) * per
    if v < -1e-9 or u + v > 1.0 + 1e-9:
        return np.inf, 0.0
    distance = (e2x * qx + e2y * qy + e2z * qz) * per
    if distance <= 1e-6:
        return np.inf, 0.0
    nx, ny, nz = e1y * e2z - e1z * e2y, e1z * e2x - e1x * e2z, e1x * e2y - e1y * e2x
    return distance, abs(det) / math.sqrt(nx * nx + ny * ny + nz * nz)


@kernel()
def _hit_static(
    corner_m: Float32, t: Number, ox: Number, oy: Number, oz: Number, dx: Number, dy: Number, dz: Number
) -> tuple[float, float]:
    """Intersect a ray with a triangle of the town, from either side; see ``_hit``."""
    return _hit(
        np.float64(corner_m[t, 0, 0]), np.float64(corner_m[t, 0, 1]), np.float64(corner_m[t, 0, 2]),
        np.float64(corner_m[t, 1, 0]), np.float64(corner_m[t, 1, 1]), np.float64(corner_m[t, 1, 2]),
        np.float64(corner_m[t, 2, 0]), np.float64(corner_m[t, 2, 1]), np.float64(corner_m[t, 2, 2]),
        ox, oy, oz, dx, dy, dz, False,
    )  # fmt: skip


@kernel()
def _cast_static(
    frame: Float64, first: Int32, members: Int32, far: Int32, corner_m: Float32, span_m: Float32,
    ox: Number, oy: Number, oz: Number, dx: Number, dy: Number, dz: Number, best: Number,
) -> tuple[float, int, float]:  # fmt: skip
    """Walk the grid along one ray; returns distance, triangle (-1: none), cosine."""
    found, cosine = -1, 0.0
    for index in range(far.shape[0]):
        t = far[index]
        distance, cos = _hit_static(corner_m, t, ox, oy, oz, dx, dy, dz)
        if distance < best:
            best, found, cosine = distance, t, cos
    columns, rows, cell = int(frame[3]), int(frame[4]), frame[2]
    enter, leave = 0.0, best
    for axis in range(2):
        origin, direction = (ox - frame[0], dx) if axis == 0 else (oy - frame[1], dy)
        size = cell * (columns if axis == 0 else rows)
        if abs(direction) < 1e-12:
            if origin < 0.0 or origin > size:
                return best, found, cosine
        else:
            a, b = (0.0 - origin) / direction, (size - origin) / direction
            enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    if enter > leave:
        return best, found, cosine
    gx, gy = (ox - frame[0] + dx * enter) / cell, (oy - frame[1] + dy * enter) / cell
    column, row = min(max(math.floor(gx), 0), columns - 1), min(max(math.floor(gy), 0), rows - 1)
    step_x, step_y = (1 if dx > 0 else -1), (1 if dy > 0 else -1)
    per_x = cell / abs(dx) if abs(dx) > 1e-12 else 1e30
    per_y = cell / abs(dy) if abs(dy) > 1e-12 else 1e30
    next_x = (frame[0] + (column + (1 if dx > 0 else 0)) * cell - ox) / dx if abs(dx) > 1e-12 else 1e30
    next_y = (frame[1] + (row + (1 if dy > 0 else 0)) * cell - oy) / dy if abs(dy) > 1e-12 else 1e30
    at = enter
    while True:
        out = min(next_x, next_y)
        stop = min(out, best) + 1e-3
        z0, z1 = oz + dz * (at - 1e-3), oz + dz * stop
        low, high = min(z0, z1) - 1e-3, max(z0, z1) + 1e-3
        here = row * columns + column
        for index in range(first[here], first[here + 1]):
            t = members[index]
            if span_m[t, 0] > high or span_m[t, 1] < low:
                continue
            distance, cos = _hit_static(corner_m, t, ox, oy, oz, dx, dy, dz)
            if distance < best:
                best, found, cosine = distance, t, cos
        if best <= out or out > leave:
            return best, found, cosine
        at = out
        if next_x < next_y:
            column += step_x
            next_x += per_x
        else:
            row += step_y
            next_y += per_y
        if column < 0 or row < 0 or column >= columns or row >= rows:
            return best, found, cosine


@kernel()
def _may_meet_box(sphere: Float64, ox: Number, oy: Number, oz: Number, dx: Number, dy: Number, dz: Number) -> bool:
    """Return whether a ray enters the bounding box of a mesh, enlarged by 1 mm on each side."""
    enter, leave = 0.0, np.inf
    for axis in range(3):
        origin, direction = (ox, dx) if axis == 0 else ((oy, dy) if axis == 1 else (oz, dz))
        low, high = sphere[axis] - sphere[4 + axis] - 1e-3 - origin, sphere[axis] + sphere[4 + axis] + 1e-3 - origin
        if abs(direction) < 1e-12:
            if low > 0.0 or high < 0.0:
                return False
        else:
            a, b = low / direction, high / direction
            enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    return enter <= leave


@kernel()
def cast_rays(
    origins_m: Float64, directions: Float64, max_range_m: Number,
    frame: Float64, first: Int32, members: Int32, far: Int32,
    corner_m: Float32, span_m: Float32, static_ids: UInt32, static_tag: UInt8,
    world: Float64, model: Int32, points_m: Float32, corners: Int32, first_triangle: Int32, sphere: Float64,
    model_tag: UInt8, actor_id: UInt32, near_m: Float64,
    distance_m: Float32, ids: UInt32, tag: UInt8, cosine: Float32,
) -> None:  # fmt: skip
    """Write the first hit of each of (N, 3) rays, metres; misses get inf, 0, 0 and 0. Movers are sorted by ``near_m``."""
    movers = world.shape[0]
    centre = np.empty((movers, 4))
    for m in range(movers):
        for axis in range(3):
            centre[m, axis] = (
                world[m, axis, 0] * sphere[model[m], 0] + world[m, axis, 1] * sphere[model[m], 1]
                + world[m, axis, 2] * sphere[model[m], 2] + world[m, axis, 3]
            )  # fmt: skip
        centre[m, 3] = sphere[model[m], 3] + 1e-3
    for i in range(origins_m.shape[0]):
        ox, oy, oz = origins_m[i, 0], origins_m[i, 1], origins_m[i, 2]
        dx, dy, dz = directions[i, 0], directions[i, 1], directions[i, 2]
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        distance_m[i], ids[i], tag[i], cosine[i] = np.inf, 0, 0, 0.0
        if not (length > 0.0 and math.isfinite(length + ox + oy + oz)):
            continue
        dx, dy, dz = dx / length, dy / length, dz / length
        best, found, cos = _cast_static(
            frame, first, members, far, corner_m, span_m, ox, oy, oz, dx, dy, dz, max_range_m
        )
        owner, part = -1, -1
        for m in range(movers):
            if near_m[m] > best:
                break
            cx, cy, cz = centre[m, 0] - ox, centre[m, 1] - oy, centre[m, 2] - oz
            along = cx * dx + cy * dy + cz * dz
            apart = cx * cx + cy * cy + cz * cz - along * along
            if not apart <= centre[m, 3] * centre[m, 3] or along < -centre[m, 3] or along - centre[m, 3] > best:
                continue
            px, py, pz = ox - world[m, 0, 3], oy - world[m, 1, 3], oz - world[m, 2, 3]
            lox = world[m, 0, 0] * px + world[m, 1, 0] * py + world[m, 2, 0] * pz
            loy = world[m, 0, 1] * px + world[m, 1, 1] * py + world[m, 2, 1] * pz
            loz = world[m, 0, 2] * px + world[m, 1, 2] * py + world[m, 2, 2] * pz
            ldx = world[m, 0, 0] * dx + world[m, 1, 0] * dy + world[m, 2, 0] * dz
            ldy = world[m, 0, 1] * dx + world[m, 1, 1] * dy + world[m, 2, 1] * dz
            ldz = world[m, 0, 2] * dx + world[m, 1, 2] * dy + world[m, 2, 2] * dz
            if not _may_meet_box(sphere[model[m]], lox, loy, loz, ldx, ldy, ldz):
                continue
            for t in range(first_triangle[model[m]], first_triangle[model[m] + 1]):
                a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
                distance, slant = _hit(
                    np.float64(points_m[0, a]), np.float64(points_m[1, a]), np.float64(points_m[2, a]),
                    np.float64(points_m[0, b]), np.float64(points_m[1, b]), np.float64(points_m[2, b]),
                    np.float64(points_m[0, c]), np.float64(points_m[1, c]), np.float64(points_m[2, c]),
                    lox, loy, loz, ldx, ldy, ldz, True,
                )  # fmt: skip
                if distance < best:
                    best, owner, part, cos = distance, m, t, slant
        if owner >= 0:
            distance_m[i], ids[i], tag[i], cosine[i] = best, actor_id[owner], model_tag[part], cos
        elif found >= 0:
            distance_m[i], ids[i], tag[i], cosine[i] = best, static_ids[found], static_tag[found], cos
