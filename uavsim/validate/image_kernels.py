"""Pixel counts of the validator in masks and along their borders, independent of the code that writes the masks."""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.images.compiled import kernel

Array: TypeAlias = npt.NDArray[Any]

_STRIDE: Final = 3  # of the pixels in the histogram


def ids_of_mask(mask: Array) -> Array:
    """Return the (H, W) uint16 ids of a (H, W, 3) mask: green + 256 * blue."""
    return mask[..., 1] + np.uint16(256) * mask[..., 2]


@kernel
def ids_of_rows(rows: Array) -> tuple[Array, Array]:
    """Decode the rows of a PNG with filter ``up``, in which each byte is the difference from the byte above it.

    Args:
        rows: (H, 1 + 3 W) uint8, the filter's number first.

    Returns:
        (H, W) uint16 ids and (H, W) uint8 tags.
    """
    height, width = rows.shape[0], rows.shape[1] // 3
    ids, tags = np.empty((height, width), np.uint16), np.empty((height, width), np.uint8)
    above = np.zeros(3 * width, np.uint8)
    for y in range(height):
        row, ids_out, tags_out = rows[y], ids[y], tags[y]
        for x in range(width):
            column = 3 * x
            tag = np.uint8(above[column] + row[column + 1])
            low, high = np.uint8(above[column + 1] + row[column + 2]), np.uint8(above[column + 2] + row[column + 3])
            above[column], above[column + 1], above[column + 2] = tag, low, high
            tags_out[x] = tag
            ids_out[x] = np.uint16(low) | (np.uint16(high) << np.uint16(8))
    return ids, tags


def green_of_rows(rows: Array) -> Array:
    """Decode the green channel of a PNG with filter ``sub``, in which each byte is the difference from the pixel on its left.

    Args:
        rows: (H, 1 + 3 W) uint8, the filter's number first.

    Returns:
        (H, W) uint8.
    """
    return np.add.accumulate(rows[:, 2::3], axis=1, dtype=np.uint8)


def count_levels(luma: Array) -> Array:
    """Return the (256,) histogram of every third pixel of every third row of a (H, W) uint8 image."""
    return np.bincount(luma[::_STRIDE, ::_STRIDE].reshape(-1), minlength=256)


@kernel
def count_instances(
    ids: Array, box_of_id: Array, box_R_optical: Array, eye: Array, half: Array, intrinsic: Array, rays: Array
) -> tuple[Array, Array]:
    """Count the pixels of every box, and those with a ray that meets the box.

    Args:
        ids: (H, W) uint16 of the mask.
        box_of_id: (65536,) box 0..B-1 of every id, -1 for an id without a box.
        box_R_optical: (B, 3, 3) rotations.
        eye: (B, 3) camera in each box's frame, metres.
        half: (B, 3) half sizes, metres.
        intrinsic: (3, 3).
        rays: (H, W, 2) x / z and y / z behind a lens; (0, 0, 2) for a pinhole.

    Returns:
        (B, 11) pixels, pixels inside, least x, y, x + y, x - y, largest x, y, x + y, x - y, flat index of the first pixel;
        (65536,) pixels of ids without a box.
    """
    height, width = ids.shape
    boxes = np.zeros((len(half), 11), np.int64)
    strays = np.zeros(65536, np.int64)
    ray = np.ones(3)
    for y in range(height):
        for x in range(width):
            number = ids[y, x]
            if number == 0:
                continue
            box = box_of_id[number]
            if box < 0:
                strays[number] += 1
                continue
            row = boxes[box]
            if row[0] == 0:
                row[2], row[3], row[4], row[5] = x, y, x + y, x - y
                row[6], row[8], row[9], row[10] = x, x + y, x - y, y * width + x
            row[0] += 1
            row[2], row[4], row[5] = min(row[2], x), min(row[4], x + y), min(row[5], x - y)
            row[6], row[7], row[8], row[9] = max(row[6], x), y, max(row[8], x + y), max(row[9], x - y)
            if len(rays):
                ray[0], ray[1] = rays[y, x, 0], rays[y, x, 1]
            else:
                ray[0] = (x + 0.5 - intrinsic[0, 2]) / intrinsic[0, 0]
                ray[1] = (y + 0.5 - intrinsic[1, 2]) / intrinsic[1, 1]
            row[1] += _meets(box_R_optical[box], eye[box], half[box], ray)
    return boxes, strays


@kernel
def count_unlabelled(ids: Array, tags: Array, box_of_id: Array, counted: Array, ignored_px: Array) -> int:
    """Count the pixels with a counted tag, an id without a box, and a place outside of all regions.

    Args:
        ids: (H, W) uint16 of the mask.
        tags: (H, W) uint8 of the mask.
        box_of_id: (65536,), -1 for an id without a box.
        counted: (256,) bool, the counted tags.
        ignored_px: (K, 4) regions, x_min, y_min, x_max, y_max in pixel edges.
    """
    height, width = ids.shape
    found = 0
    for y in range(height):
        for x in range(width):
            if not counted[tags[y, x]] or box_of_id[ids[y, x]] >= 0:
                continue
            is_ignored = False
            for k in range(len(ignored_px)):  # a row as an array of its own would cost as much as all the rest
                left, top, right, bottom = ignored_px[k, 0], ignored_px[k, 1], ignored_px[k, 2], ignored_px[k, 3]
                is_ignored |= left <= x < right and top <= y < bottom
            found += not is_ignored
    return found


@kernel
def _meets(box_R_optical: Array, eye: Array, half: Array, ray: Array) -> bool:
    """Slab test in the box's frame."""
    enter, leave = -np.inf, np.inf
    for axis in range(3):
        direction = box_R_optical[axis, 0] * ray[0] + box_R_optical[axis, 1] * ray[1] + box_R_optical[axis, 2] * ray[2]
        if abs(direction) < 1e-12:
            direction = 1e-12
        near, far = (-half[axis] - eye[axis]) / direction, (half[axis] - eye[axis]) / direction
        enter, leave = max(enter, min(near, far)), min(leave, max(near, far))
    return enter <= leave and leave > 0


def border_pairs(ids: Array) -> tuple[Array, Array]:
    """Return flat indices of neighbouring pixels with different (H, W) uint16 ids: (P,) left or upper, (P,) right or lower."""
    height, width = ids.shape
    left = np.zeros((height, width), bool)
    np.not_equal(ids[:, :-1], ids[:, 1:], out=left[:, :-1])
    beside, above = np.flatnonzero(left), np.flatnonzero(ids[:-1] != ids[1:])
    return np.concatenate([beside, above]), np.concatenate([beside + 1, above + width])


@kernel
def border_steps(luma: Array, first: Array, second: Array, moves: Array) -> tuple[float, float]:
    """Return the mean step of an (H * W,) image between (P,) pairs of pixels, and between pairs shifted by (M,) moves."""
    here, beside, count = np.int64(0), np.int64(0), 0
    for n in range(len(first)):
        a, b = first[n], second[n]
        here += abs(np.int64(luma[a]) - np.int64(luma[b]))
        for move in moves:
            if a + move >= 0 and b + move < len(luma):
                beside += abs(np.int64(luma[a + move]) - np.int64(luma[b + move]))
                count += 1
    return here / len(first), beside / count
