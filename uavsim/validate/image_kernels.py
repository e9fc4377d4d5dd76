"""Counts of the validator in masks and along their borders, its own code for its own idea of the format."""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.images.compiled import kernel

__all__ = [
    "border_pairs",
    "border_steps",
    "count_instances",
    "count_levels",
    "count_unlabelled",
    "green_of_rows",
    "ids_of_mask",
    "ids_of_rows",
]

Array: TypeAlias = npt.NDArray[Any]

_STEP: Final = 3  # from one pixel that is counted to the next
_PIXELS: Final = 4  # of a mask in 64 bits
_TAGS: Final = 8  # likewise
_ONE_TAG: Final = np.uint64(0x0101010101010101)  # times a tag: eight pixels of it
_ALIKE: Final = np.uint64(0x0001000100010001)  # times an id: four pixels of it
_WORDS: Final = 8  # that are looked at together


def ids_of_mask(mask: Array) -> Array:
    """Return the (H, W) uint16 ids of a (H, W, 3) mask: green + 256 * blue."""
    return mask[..., 1] + np.uint16(256) * mask[..., 2]


@kernel
def ids_of_rows(rows: Array) -> tuple[Array, Array]:
    """Return (H, W) uint16 ids and (H, W) uint8 tags of a mask's rows, each byte the difference from the one above it.

    Args:
        rows: (H, 1 + 3 W) of a PNG with the filter ``up``, each behind its filter's number.
    """
    height, width = rows.shape[0], rows.shape[1] // 3
    ids, tags = np.empty((height, width), np.uint16), np.empty((height, width), np.uint8)
    above = np.zeros(3 * width, np.uint8)
    for y in range(height):
        row, ids_out, tags_out = rows[y], ids[y], tags[y]
        for x in range(width):
            at = 3 * x
            tag = np.uint8(above[at] + row[at + 1])
            low, high = np.uint8(above[at + 1] + row[at + 2]), np.uint8(above[at + 2] + row[at + 3])
            above[at], above[at + 1], above[at + 2] = tag, low, high
            tags_out[x] = tag
            ids_out[x] = np.uint16(low) | (np.uint16(high) << np.uint16(8))
    return ids, tags


def green_of_rows(rows: Array) -> Array:
    """Return the (H, W) green channel of an image's rows, each byte the difference from the pixel on its left.

    Args:
        rows: (H, 1 + 3 W) of a PNG with the filter ``sub``, each behind its filter's number.
    """
    return np.add.accumulate(rows[:, 2::3], axis=1, dtype=np.uint8)


def count_levels(luma: Array) -> Array:
    """Return (256,) how often each level stands in every third pixel of every third row of a (H, W) uint8 image."""
    return np.bincount(luma[::_STEP, ::_STEP].reshape(-1), minlength=256)


def _in_words(pixels: Array) -> Array:
    """Return (H, W) pixels as numbers of 64 bits; of rows that are no whole numbers, none."""
    fits = pixels.shape[1] * pixels.itemsize % 8 == 0 and pixels.flags.c_contiguous
    return pixels.view(np.uint64) if fits else np.zeros((pixels.shape[0], 0), np.uint64)


@kernel
def _all_are(words: Array, first: int, value: Any) -> bool:
    """Return whether this word of a row and the seven behind it are there and have a value."""
    if first + _WORDS > len(words):
        return False
    others = np.uint64(0)
    for at in range(np.uint64(first), np.uint64(first + _WORDS)):
        others |= words[at] ^ value
    return bool(others == 0)


def count_instances(
    ids: Array, box_of_id: Array, box_R_optical: Array, eye: Array, half: Array, intrinsic: Array, rays: Array
) -> tuple[Array, Array]:
    """Count the pixels of every box, and those whose ray meets it.

    Args:
        ids: (H, W) of the mask.
        box_of_id: (65536,) box 0..B-1 of every id, -1 where no box has it.
        box_R_optical: (B, 3, 3) rotations.
        eye: (B, 3) the camera in each box's frame.
        half: (B, 3) half sizes.
        intrinsic: (3, 3).
        rays: (H, W, 2) x / z and y / z behind a lens; (0, 0, 2) of a pinhole.

    Returns:
        (B, 11) pixels, pixels inside, least x, y, x + y, x - y, largest x, y, x + y, x - y, flat index of the first pixel;
        (65536,) pixels of ids that no box has.
    """
    counted: tuple[Array, Array] = _count_instances(
        ids, _in_words(ids), box_of_id, box_R_optical, eye, half, intrinsic, rays
    )
    return counted


@kernel
def _count_instances(
    ids: Array,
    words: Array,
    box_of_id: Array,
    box_R_optical: Array,
    eye: Array,
    half: Array,
    intrinsic: Array,
    rays: Array,
) -> tuple[Array, Array]:
    height, width = ids.shape
    boxes = np.zeros((len(half), 11), np.int64)
    strays = np.zeros(65536, np.int64)
    ray = np.ones(3)
    for y in range(height):
        ray[1] = (y + 0.5 - intrinsic[1, 2]) / intrinsic[1, 1]
        x = -1
        while x + 1 < width:
            x += 1
            number = ids[y, x]
            if number == 0:
                if x % _PIXELS == 0 and _all_are(words[y], x // _PIXELS, np.uint64(0)):
                    x += _PIXELS * _WORDS - 1
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
            ray[0] = (x + 0.5 - intrinsic[0, 2]) / intrinsic[0, 0]
            if len(rays):
                ray[0], ray[1] = rays[y, x, 0], rays[y, x, 1]
            row[1] += _meets(box_R_optical[box], eye[box], half[box], ray)
    return boxes, strays


def count_unlabelled(ids: Array, tags: Array, box_of_id: Array, counted: Array, ignored_px: Array) -> int:
    """Count the pixels whose tag counts, whose id no box has, and that lie in no region.

    Args:
        ids: (H, W) of the mask.
        tags: (H, W) uint8 of the mask.
        box_of_id: (65536,), -1 where no box has an id.
        counted: (256,) tags that count.
        ignored_px: (K, 4) regions, x_min, y_min, x_max, y_max in pixel edges.
    """
    return int(_count_unlabelled(ids, tags, _in_words(tags), box_of_id, counted, ignored_px))


@kernel
def _count_unlabelled(
    ids: Array, tags: Array, words: Array, box_of_id: Array, counted: Array, ignored_px: Array
) -> int:
    """Pass over eight pixels of one tag, in one word, that does not count."""
    height, width = ids.shape
    found, has_words = 0, words.shape[1] > 0
    for y in range(height):
        for first in range(np.uint64(0), np.uint64(width), np.uint64(_TAGS)):
            tag = tags[y, first]
            if has_words and not counted[tag] and words[y, first // np.uint64(_TAGS)] == np.uint64(tag) * _ONE_TAG:
                continue
            for x in range(first, min(first + np.uint64(_TAGS), np.uint64(width))):
                if not counted[tags[y, x]] or box_of_id[ids[y, x]] >= 0:
                    continue
                lies_in = False
                for k in range(len(ignored_px)):  # rows of an array, each as an array, cost as much as all the rest
                    left, top, right, bottom = ignored_px[k, 0], ignored_px[k, 1], ignored_px[k, 2], ignored_px[k, 3]
                    lies_in |= left <= np.int64(x) < right and top <= y < bottom
                found += not lies_in
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
    pairs: tuple[Array, Array] = _border_pairs(ids, _in_words(ids))
    return pairs


@kernel
def _border_pairs(ids: Array, words: Array) -> tuple[Array, Array]:
    """Look at pixels one by one where four of them, the one behind them and the four below are not all alike."""
    height, width = ids.shape
    first, second = (
        np.empty(2 * ids.size, np.int64),
        np.empty(2 * ids.size, np.int64),
    )  # memory that is not written costs nothing
    at, has_words = 0, words.shape[1] > 0
    for y in range(height):
        x = 0
        while x < width:
            own, place = ids[y, x], y * width + x
            if x % _PIXELS == 0 and has_words and x + _PIXELS < width:
                at_word, alike, last = x // _PIXELS, np.uint64(own) * _ALIKE, min(y + 1, height - 1)
                if _all_are(words[y], at_word, alike) and _all_are(words[last], at_word, alike):
                    x += _PIXELS * (_WORDS - 1)  # the last of them may have another one behind it
                    continue
                if words[y, at_word] == alike and words[last, at_word] == alike and own == ids[y, x + _PIXELS]:
                    x += _PIXELS
                    continue
            if x + 1 < width and own != ids[y, x + 1]:
                first[at], second[at] = place, place + 1
                at += 1
            if y + 1 < height and own != ids[y + 1, x]:
                first[at], second[at] = place, place + width
                at += 1
            x += 1
    return first[:at].copy(), second[:at].copy()


@kernel
def border_steps(luma: Array, first: Array, second: Array, moves: Array) -> tuple[float, float]:
    """Return the mean step of a flat image between pairs of pixels, and that between the pairs moved by each of ``moves``."""
    here, beside, count = np.int64(0), np.int64(0), 0
    for at in range(len(first)):
        a, b = first[at], second[at]
        here += abs(np.int64(luma[a]) - np.int64(luma[b]))
        for move in moves:
            if a + move >= 0 and b + move < len(luma):
                beside += abs(np.int64(luma[a + move]) - np.int64(luma[b + move]))
                count += 1
    return here / len(first), beside / count
