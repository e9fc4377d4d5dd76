"""Contact of bodies: upright oriented boxes."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from headless_simulator.jit import kernel
from headless_simulator.scene import Float64

Int64: TypeAlias = npt.NDArray[np.int64]

# A box is (x, y, z of its centre, yaw in degrees, half length, half width, half height).


@kernel(error_model="python")
def overlap_depth(a: Float64, b: Float64) -> float:
    """Return the penetration depth of two (7,) boxes, metres; 0 or less if separate (separating axis test)."""
    depth = a[6] + b[6] - abs(a[2] - b[2])
    if depth <= 0:
        return depth  # type: ignore[no-any-return]
    dx, dy = b[0] - a[0], b[1] - a[1]
    ya, yb = math.radians(a[3]), math.radians(b[3])
    ca, sa, cb, sb = math.cos(ya), math.sin(ya), math.cos(yb), math.sin(yb)
    along, across = abs(ca * cb + sa * sb), abs(ca * sb - sa * cb)
    for reach, apart in (
        (a[4] + b[4] * along + b[5] * across, abs(dx * ca + dy * sa)),
        (a[5] + b[4] * across + b[5] * along, abs(-dx * sa + dy * ca)),
        (b[4] + a[4] * along + a[5] * across, abs(dx * cb + dy * sb)),
        (b[5] + a[4] * across + a[5] * along, abs(-dx * sb + dy * cb)),
    ):
        depth = min(depth, reach - apart)
        if depth <= 0:
            return depth  # type: ignore[no-any-return]
    return depth  # type: ignore[no-any-return]


@kernel(error_model="python")
def box_into(row: int, pose: Float64, half: Float64, offset: Float64, out: Float64) -> None:
    """Write an actor's upright box (7,), world, metres and degrees, to ``out``; ``pose`` etc. are table columns (A, ...)."""
    yaw = math.radians(pose[row, 4])
    cy, sy = math.cos(yaw), math.sin(yaw)
    out[0] = pose[row, 0] + cy * offset[row, 0] - sy * offset[row, 1]
    out[1] = pose[row, 1] + sy * offset[row, 0] + cy * offset[row, 1]
    out[2] = pose[row, 2] + offset[row, 2]
    out[3] = pose[row, 4]
    out[4], out[5], out[6] = half[row, 0], half[row, 1], half[row, 2]


@kernel(error_model="python")
def boxes_of(rows: Int64, pose: Float64, half: Float64, offset: Float64) -> Float64:
    """Return (N, 7) upright boxes of actors, world, metres and degrees."""
    out = np.empty((len(rows), 7))
    for n, row in enumerate(rows):
        box_into(row, pose, half, offset, out[n])
    return out


@kernel(error_model="python")
def first_hit(box: Float64, others: Float64) -> int:
    """Return the index of the first of (N, 7) boxes that a (7,) box overlaps, or -1."""
    for n in range(len(others)):
        reach = box[4] + box[5] + others[n, 4] + others[n, 5]
        if abs(box[0] - others[n, 0]) > reach or abs(box[1] - others[n, 1]) > reach:
            continue
        if overlap_depth(box, others[n]) > 0:
            return n
    return -1


@kernel(error_model="python")
def pairs(boxes: Float64, order: Int64) -> Int64:
    """Return (M, 2) indices of overlapping pairs of (N, 7) boxes, each pair once; ``order`` sorts the boxes by x."""
    found = np.empty((4 * len(boxes) + 16, 2), np.int64)
    count = 0
    widest = 0.0
    for n in range(len(boxes)):
        widest = max(widest, boxes[n, 4] + boxes[n, 5])
    for a in range(len(order)):
        i = order[a]
        for b in range(a + 1, len(order)):
            j = order[b]
            if boxes[j, 0] - boxes[i, 0] > boxes[i, 4] + boxes[i, 5] + widest:
                break
            if abs(boxes[j, 1] - boxes[i, 1]) > boxes[i, 4] + boxes[i, 5] + boxes[j, 4] + boxes[j, 5]:
                continue
            if overlap_depth(boxes[i], boxes[j]) > 0 and count < len(found):
                found[count, 0], found[count, 1] = min(i, j), max(i, j)
                count += 1
    return found[:count]
