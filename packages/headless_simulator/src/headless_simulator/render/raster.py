"""The z-buffer: one pass over the triangles yields 1 / depth and the visible triangle's number per pixel.

Both are one 64-bit key: the bits of 1 / depth as float32 (which order like integers) above, twice the triangle's number
plus 1 for its front face below; 0 is sky. The greatest key wins, so the image does not depend on the drawing order.

Coverage: a pixel belongs to a triangle that contains its centre. Spans are half open, and the crossing of an edge with
a row depends on the edge alone (upper end first), so that triangles with a common edge neither overlap nor leave a gap.
1 / depth is linear on the screen, which makes depth perspective-correct.

The kernels use strict floating point with infinities: both triangles of an edge must round alike. They copy numbers one
by one, because an array assignment makes numba compile the text of its error message, which takes seconds.
"""

# ruff: noqa: PLR0917, D417 (kernels take their buffers by place)
from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from headless_simulator.jit import int64, kernel
from headless_simulator.scene import Float32, Float64, Int32

Int64: TypeAlias = npt.NDArray[np.int64]
SMALL: Final = 13  # rows of scratch: a frame of 3, a box of 2, a polygon of 8


@kernel()
def fill(
    keys: Int64,
    width: int,
    height: int,
    x0: float,
    y0: float,
    w0: float,
    x1: float,
    y1: float,
    w1: float,
    x2: float,
    y2: float,
    w2: float,
    number: int,
) -> None:
    """Fill one projected triangle (pixels; w = 1 / depth) in the (height * width,) keys; ``number`` is the triangle's."""
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if not (area > 1e-14 or area < -1e-14):
        return
    mark = np.int64(2 * number + (1 if area > 0 else 0))
    per_area = 1.0 / area
    slope_x = ((w1 - w0) * (y2 - y0) - (w2 - w0) * (y1 - y0)) * per_area
    slope_y = ((x1 - x0) * (w2 - w0) - (x2 - x0) * (w1 - w0)) * per_area
    middle_right = area > 0
    base = w0 - slope_x * (x0 - 0.5) - slope_y * y0
    if y1 < y0:
        x0, y0, x1, y1 = x1, y1, x0, y0
        middle_right = not middle_right
    if y2 < y1:
        x1, y1, x2, y2 = x2, y2, x1, y1
        middle_right = not middle_right
        if y1 < y0:
            x0, y0, x1, y1 = x1, y1, x0, y0
            middle_right = not middle_right
    first = max(0, math.ceil(y0 - 0.5))
    last = min(height, math.ceil(y2 - 0.5))
    if first >= last:
        return
    step02 = (x2 - x0) / (y2 - y0)
    step01 = (x1 - x0) / (y1 - y0) if y1 > y0 else 0.0
    step12 = (x2 - x1) / (y2 - y1) if y2 > y1 else 0.0
    gain = np.float32(slope_x)
    past = width + 0.5
    for row in range(first, last):
        centre_y = row + 0.5
        a = x0 + (centre_y - y0) * step02
        b = x0 + (centre_y - y0) * step01 if centre_y < y1 else x1 + (centre_y - y1) * step12
        if middle_right:
            left = a
            right = b
        else:
            left = b
            right = a
        start = math.ceil(min(max(left, 0.5), past) - 0.5)
        count = math.ceil(min(max(right, 0.5), past) - 0.5) - start
        w = np.float32(base + slope_x * start + slope_y * centre_y)
        at = np.uint64(row * width + start)  # unsigned: no index can count from the end
        for column in range(count):
            bits = np.int64(np.float32(w + gain * np.float32(column)).view(np.int32))
            index = at + np.uint64(column)
            keys[index] = max(keys[index], bits << np.int64(32) | mark)


@kernel()
def _clip_and_fill(keys: Int64, width: int, height: int, camera: Float64, polygon: Float64, number: int) -> None:
    """Clip a triangle (the first 3 rows of an (8, 4) buffer, camera coordinates) at the near plane and fill the rest."""
    near, focal, cx, cy = camera[15], camera[12], camera[13], camera[14]
    cut = polygon[4:]
    count = 0
    for i in range(3):
        j = (i + 1) % 3
        inside_i, inside_j = polygon[i, 2] >= near, polygon[j, 2] >= near
        if inside_i:
            cut[count, 0], cut[count, 1], cut[count, 2] = polygon[i, 0], polygon[i, 1], polygon[i, 2]
            count += 1
        if inside_i != inside_j:
            k, m = (
                (i, j) if inside_i else (j, i)
            )  # always from inside to outside, so that both triangles of an edge are clipped alike
            share = (polygon[k, 2] - near) / (polygon[k, 2] - polygon[m, 2])
            cut[count, 0] = polygon[k, 0] + share * (polygon[m, 0] - polygon[k, 0])
            cut[count, 1] = polygon[k, 1] + share * (polygon[m, 1] - polygon[k, 1])
            cut[count, 2] = near
            count += 1
    for i in range(count):
        w = 1.0 / cut[i, 2]
        cut[i, 0] = cx + focal * cut[i, 0] * w
        cut[i, 1] = cy + focal * cut[i, 1] * w
        cut[i, 2] = w
    for i in range(1, count - 1):
        fill(
            keys, width, height,
            cut[0, 0], cut[0, 1], cut[0, 2], cut[i, 0], cut[i, 1], cut[i, 2], cut[i + 1, 0], cut[i + 1, 1], cut[i + 1, 2],
            number,
        )  # fmt: skip


@kernel()
def _project(points_m: Float32, first: int, last: int, frame: Float64, camera: Float64, out: Float64) -> None:
    """Project vertices ``first`` to ``last`` of (3, V) into ``out`` rows x, y, 1 / depth (0 before the near plane).

    ``frame`` is (3, 4), from the vertices' frame to camera coordinates (right, down, forward).
    """
    focal, cx, cy, near = camera[12], camera[13], camera[14], camera[15]
    x, y, z = points_m[0, first:last], points_m[1, first:last], points_m[2, first:last]
    across, down, inverse = out[0], out[1], out[2]
    a00, a01, a02, a03 = frame[0, 0], frame[0, 1], frame[0, 2], frame[0, 3]
    a10, a11, a12, a13 = frame[1, 0], frame[1, 1], frame[1, 2], frame[1, 3]
    a20, a21, a22, a23 = frame[2, 0], frame[2, 1], frame[2, 2], frame[2, 3]
    for i in range(x.shape[0]):
        px, py, pz = np.float64(x[i]), np.float64(y[i]), np.float64(z[i])
        depth = a20 * px + a21 * py + a22 * pz + a23
        ahead = depth >= near
        w = 1.0 / (depth if ahead else 1.0)
        across[i] = cx + focal * (a00 * px + a01 * py + a02 * pz + a03) * w
        down[i] = cy + focal * (a10 * px + a11 * py + a12 * pz + a13) * w
        inverse[i] = w if ahead else 0.0


@kernel()
def _draw_group(
    keys: Int64,
    width: int,
    height: int,
    camera: Float64,
    frame: Float64,
    points_m: Float32,
    first_point: int,
    corners: Int32,
    first: int,
    last: int,
    number: int,
    cull_back: bool,
    screen: Float64,
    polygon: Float64,
) -> None:
    """Draw triangles ``first`` to ``last`` with numbers from ``number`` on; ``screen`` has their projected vertices."""
    sx, sy, sw = screen[0], screen[1], screen[2]
    right_edge, bottom_edge = width - 0.5, height - 0.5
    for t in range(first, last):
        i, j, k = corners[t, 0] - first_point, corners[t, 1] - first_point, corners[t, 2] - first_point
        w0, w1, w2 = sw[i], sw[j], sw[k]
        if w0 > 0.0 and w1 > 0.0 and w2 > 0.0:
            x0, y0, x1, y1, x2, y2 = sx[i], sy[i], sx[j], sy[j], sx[k], sy[k]
            low_y, high_y = min(y0, min(y1, y2)), max(y0, max(y1, y2))
            if high_y < 0.5 or low_y > bottom_edge:
                continue
            low_x, high_x = min(x0, min(x1, x2)), max(x0, max(x1, x2))
            if high_x < 0.5 or low_x > right_edge:
                continue
            if math.ceil(low_y - 0.5) == math.ceil(high_y - 0.5) or math.ceil(low_x - 0.5) == math.ceil(high_x - 0.5):
                continue  # between pixel centres
            if cull_back and (x1 - x0) * (y2 - y0) <= (x2 - x0) * (y1 - y0):
                continue
            fill(keys, width, height, x0, y0, w0, x1, y1, w1, x2, y2, w2, number + t - first)
        elif w0 > 0.0 or w1 > 0.0 or w2 > 0.0:
            for c in range(3):
                p = corners[t, c]
                for axis in range(3):
                    polygon[c, axis] = (
                        frame[axis, 0] * points_m[0, p]
                        + frame[axis, 1] * points_m[1, p]
                        + frame[axis, 2] * points_m[2, p]
                        + frame[axis, 3]
                    )
            _clip_and_fill(keys, width, height, camera, polygon, number + t - first)


@kernel()
def _outside(camera: Float64, width: int, height: int, centre: Float64, half: Float64) -> bool:
    """Return whether a box of (3,) centre and (3,) half size, metres, is outside one plane of the view frustum."""
    focal, cx, cy = camera[12], camera[13], camera[14]
    for plane in range(5):
        if plane == 0:
            along, sign, forward = 0, 0.0, 1.0
        elif plane == 1:
            along, sign, forward = 3, focal, cx
        elif plane == 2:
            along, sign, forward = 3, -focal, width - cx
        elif plane == 3:
            along, sign, forward = 6, focal, cy
        else:
            along, sign, forward = 6, -focal, height - cy
        reach = 0.0
        for axis in range(3):
            normal = sign * camera[along + axis] + forward * camera[9 + axis]
            reach += normal * (centre[axis] - camera[axis]) + abs(normal) * half[axis]
        if reach < 0.0:
            return True
    return False


@kernel()
def draw_static(
    keys: Int64,
    width: int,
    height: int,
    camera: Float64,
    points_m: Float32,
    corners: Int32,
    tile_box_m: Float64,
    tile_points: Int32,
    tile_triangles: Int32,
    screen: Float64,
    small: Float64,
) -> None:
    """Draw the visible tiles of a ``StaticScene`` into the (height * width,) keys.

    Args:
        screen: (3, most vertices of a tile) scratch.
        small: (SMALL, 4) scratch.
    """
    frame, centre, half, polygon = small[0:3], small[3], small[4], small[5:]
    for axis in range(3):
        for column in range(3):
            frame[axis, column] = camera[3 + 3 * axis + column]
        frame[axis, 3] = -(frame[axis, 0] * camera[0] + frame[axis, 1] * camera[1] + frame[axis, 2] * camera[2])
    for tile in range(tile_box_m.shape[0]):
        for axis in range(3):
            centre[axis] = 0.5 * (tile_box_m[tile, axis] + tile_box_m[tile, 3 + axis])
            half[axis] = 0.5 * (tile_box_m[tile, 3 + axis] - tile_box_m[tile, axis])
        if _outside(camera, width, height, centre, half):
            continue
        first, last = int64(tile_points[tile]), int64(tile_points[tile + 1])
        _project(points_m, first, last, frame, camera, screen)
        _draw_group(
            keys, width, height, camera, frame, points_m, first, corners,
            int64(tile_triangles[tile]), int64(tile_triangles[tile + 1]), int64(tile_triangles[tile]), False,
            screen, polygon,
        )  # fmt: skip


@kernel()
def model_frames(pose: Float64, out: Float64) -> None:
    """Write the (N, 3, 4) matrices from actor frame to world of (N, 6) poses (metres, degrees)."""
    for i in range(pose.shape[0]):
        p, y, r = math.radians(pose[i, 3]), math.radians(pose[i, 4]), math.radians(pose[i, 5])
        cp, sp, cy, sy, cr, sr = math.cos(p), math.sin(p), math.cos(y), math.sin(y), math.cos(r), math.sin(r)
        out[i, 0, 0], out[i, 0, 1], out[i, 0, 2] = cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr
        out[i, 1, 0], out[i, 1, 1], out[i, 1, 2] = cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr
        out[i, 2, 0], out[i, 2, 1], out[i, 2, 2] = sp, -cp * sr, cp * cr
        out[i, 0, 3], out[i, 1, 3], out[i, 2, 3] = pose[i, 0], pose[i, 1], pose[i, 2]


@kernel()
def draw_movers(
    keys: Int64,
    width: int,
    height: int,
    camera: Float64,
    world: Float64,
    model: Int32,
    points_m: Float32,
    corners: Int32,
    model_points: Int32,
    model_triangles: Int32,
    sphere: Float64,
    static_count: int,
    drawn: Int32,
    screen: Float64,
    small: Float64,
) -> int:
    """Draw the visible movers into the (height * width,) keys.

    Args:
        world: (N, 3, 4) from the actor's frame to the world.
        model: (N,) row of each mover's model in the packed models.
        sphere: (models, 4) bounding sphere: centre in the actor's frame, radius.
        static_count: triangle numbers start here.
        drawn: (N, 2) out: first triangle number of each mover minus ``static_count`` (-1: not visible), and the count.
        screen, small: scratch as for ``draw_static``.

    Returns:
        The number of assigned triangle numbers.
    """
    frame, centre, half, polygon = small[0:3], small[3], small[4], small[5:]
    used = 0
    for m in range(world.shape[0]):
        kind = model[m]
        drawn[m, 0] = -1
        for axis in range(3):
            centre[axis] = (
                world[m, axis, 0] * sphere[kind, 0]
                + world[m, axis, 1] * sphere[kind, 1]
                + world[m, axis, 2] * sphere[kind, 2]
                + world[m, axis, 3]
            )
            half[axis] = sphere[kind, 3]
        if not math.isfinite(centre[0] + centre[1] + centre[2]) or _outside(camera, width, height, centre, half):
            continue
        for axis in range(3):
            for column in range(3):
                frame[axis, column] = (
                    camera[3 + 3 * axis] * world[m, 0, column]
                    + camera[4 + 3 * axis] * world[m, 1, column]
                    + camera[5 + 3 * axis] * world[m, 2, column]
                )
            frame[axis, 3] = (
                camera[3 + 3 * axis] * (world[m, 0, 3] - camera[0])
                + camera[4 + 3 * axis] * (world[m, 1, 3] - camera[1])
                + camera[5 + 3 * axis] * (world[m, 2, 3] - camera[2])
            )
        first, last = int64(model_triangles[kind]), int64(model_triangles[kind + 1])
        drawn[m, 0] = used
        drawn[m, 1] = last - first
        first_point, last_point = int64(model_points[kind]), int64(model_points[kind + 1])
        _project(points_m, first_point, last_point, frame, camera, screen)
        _draw_group(
            keys, width, height, camera, frame, points_m, first_point, corners,
            first, last, static_count + used, True, screen, polygon,
        )  # fmt: skip
        used += last - first
    return used
