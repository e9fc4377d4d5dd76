"""Compiled kernels that intersect pixel rays with boxes and count silhouettes and blockers.

A pixel's ray in the frame of a box is ``corner + across * (u + 0.5) + down * (v + 0.5)``; the slab test gives the depths at
which it enters and leaves. The coefficients are float32, everything else is float64.
"""

# ruff: noqa: PLR0917 (kernels take positional arguments)
import math
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from uavsim.images.compiled import kernel
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

PixelMap: TypeAlias = npt.NDArray[np.float32]

Rays: TypeAlias = FloatArray
"""(N, 5, 3) rays of a pinhole camera in the frames of N boxes, float64 numbers rounded to float32: camera centre, change of a
ray per column and per line, ray at pixel (0, 0), half size of the box."""

OTHER, HIDES, OVERHANGS = np.uint8(0), np.uint8(1), np.uint8(2)
"""Kinds of a pixel: nothing nearer than the box; something nearer; something nearer that may overhang and stand behind."""
_OWN, _BESIDE = np.uint8(3), np.uint8(4)
_FIRST: Final = cast("int", np.int64(0))  # numba compiles a separate function for each literal argument
_EACH: Final = cast("int", np.int64(1))


@kernel
def _enters_m(rays: Any, u: Any, v: Any) -> Any:
    """Return the depth at which a pixel's ray enters a box; infinity if it misses."""
    near, far = -np.inf, np.inf
    for axis in range(3):
        direction = rays[3, axis] + rays[1, axis] * (u + 0.5)
        direction += rays[2, axis] * (v + 0.5)
        inverse = 1.0 / (direction if direction != 0.0 else 1e-12)
        middle = -rays[0, axis] * inverse
        reach = rays[4, axis] * abs(inverse)
        near, far = max(near, middle - reach), min(far, middle + reach)
    return near if near <= far and far > 0.0 else np.inf


@kernel
def _pinhole_pixel(pinhole_px: Any, u: int, v: int) -> tuple[float, float]:
    """Return a pixel's column and line in the pinhole's image, where rays are straight."""
    if pinhole_px.shape[0] == 0:
        return np.float64(u), np.float64(v)
    return np.float64(pinhole_px[v, u, 0]), np.float64(pinhole_px[v, u, 1])


@kernel
def most_in_front(
    rays: Rays, window_px: IntArray, ids: UInt16Array, own_id: IntArray, away_of_id: FloatArray, pinhole_px: PixelMap
) -> tuple[IntArray, IntArray]:
    """Find, for each box, the nearer actor that covers most of its silhouette; of equal ones that with the smaller id.

    Args:
        rays: (N, 5, 3) rays of N boxes.
        window_px: (N, 4) bounds of the silhouettes inside the image.
        ids: (H, W) instance ids of the mask.
        own_id: (N,) ids of the boxes.
        away_of_id: (65536,) distance of the box of every id, metres; negative for an id without a box.
        pinhole_px: (H, W, 2) pixel positions in the pinhole's image; (0, 0, 2) without a lens.

    Returns:
        (N,) int64 ids, 0 for none, and (N,) int64 pixels that show them.
    """
    occluder, most_px = np.zeros(len(rays), np.int64), np.zeros(len(rays), np.int64)
    count = np.zeros(65536, np.int64)
    met = np.empty(65536, np.int64)
    for row in range(len(rays)):
        total = 0
        for v in range(window_px[row, 1], window_px[row, 3]):
            for u in range(window_px[row, 0], window_px[row, 2]):
                shown_id = np.int64(ids[v, u])
                nearer = (
                    shown_id > 0 and shown_id != own_id[row] and 0.0 <= away_of_id[shown_id] < away_of_id[own_id[row]]
                )
                if not nearer:
                    continue
                x, y = _pinhole_pixel(pinhole_px, u, v)
                if _enters_m(rays[row], x, y) < np.inf:
                    if count[shown_id] == 0:
                        met[total] = shown_id
                        total += 1
                    count[shown_id] += 1
        for shown_id in met[:total]:
            if count[shown_id] > most_px[row] or (count[shown_id] == most_px[row] and shown_id < occluder[row]):
                occluder[row], most_px[row] = shown_id, count[shown_id]
            count[shown_id] = 0
    return occluder, most_px


@kernel
def hidden_by_others(
    rays: Rays,
    window_px: IntArray,
    runs: IntArray,
    tags: UInt8Array,
    depth_m: npt.NDArray[np.float32],
    box_row: IntArray,
    instance_id: IntArray,
    row_of_id: npt.NDArray[np.int32],
    away_m: FloatArray,
    shown_by_tag: UInt8Array,
    foot_px: FloatArray,
    pinhole_px: PixelMap,
) -> tuple[IntArray, IntArray, IntArray]:
    """Count visible pixels, silhouettes and blockers of boxes in a mask.

    Args:
        rays: (M, 5, 3) rays of the M boxes that reach into the image.
        window_px: (M, 4) bounds of their silhouettes inside the image.
        runs: (R, 5) runs of the mask, at least all pixels with an id (``images.mask_pixels``).
        tags: (H, W) semantic tags of the mask.
        depth_m: (H, W) float32 depth, metres; (0, 0) without recorded depth.
        box_row: (M,) rows of the M boxes among all N.
        instance_id: (N,) ids of all boxes.
        row_of_id: (65536,) int32 row of an id's box; -1 without one: such an object counts as nearer.
        away_m: (N,) distances of all boxes, metres.
        shown_by_tag: (256,) kind of a pixel without an id by its tag: ``OTHER``, ``HIDES`` or ``OVERHANGS``.
        foot_px: (2,) nadir of the camera in the pinhole's image; (0,) if the camera does not look down.
        pinhole_px: (H, W, 2) pixel positions in the pinhole's image; (0, 0, 2) without a lens.

    Returns:
        (N, 5) int64 of each box's visible pixels: count, first column, first line, one past the last column, one past the
        last line, all 0 without one; (M,) silhouette pixels; (M,) silhouette pixels that show something nearer.
    """
    silhouette, blockers = np.zeros(len(rays), np.int64), np.zeros(len(rays), np.int64)
    has_depth, has_lens = depth_m.shape[0] > 0, pinhole_px.shape[0] > 0
    spans, shows = np.empty((tags.shape[0], 2), np.int64), np.empty(tags.shape[0] * tags.shape[1], np.uint8)
    first_run, away_of_run_m, own_px = _by_line(runs, tags.shape[0], row_of_id, away_m)
    for row in range(len(rays)):
        left, top, right, bottom = window_px[row, 0], window_px[row, 1], window_px[row, 2], window_px[row, 3]
        box, first, last, count = rays[row], _FIRST, right - left, 0
        own_id, own_away_m = instance_id[box_row[row]], away_m[box_row[row]]
        for v in range(top, bottom):
            if not has_lens:
                first, last = _met(box, v, left, _EACH, right - left, first, last)
            begin, end = left + first, left + last
            spans[v, 0], spans[v, 1] = begin, end
            tags_of, show = tags[v, begin:end], shows[count : count + end - begin]
            for pixel in range(len(tags_of)):
                show[pixel] = shown_by_tag[tags_of[pixel]]
            for run in range(first_run[v], first_run[v + 1]):
                kind = HIDES if away_of_run_m[run] < own_away_m else OTHER
                if kind == HIDES and shown_by_tag[runs[run, 4]] == OVERHANGS:
                    kind = OVERHANGS
                if runs[run, 3] == own_id:
                    kind = _OWN
                if runs[run, 3] > 0:
                    for pixel in range(max(runs[run, 1] - begin, 0), min(runs[run, 2], end) - begin):
                        show[pixel] = kind
            if has_lens or has_depth:
                _look_closer(box, v, begin, show, depth_m, pinhole_px)
            count += len(show)
        visible, hiding, overhanging, beside = 0, 0, 0, 0
        for pixel in range(count):
            visible += shows[pixel] == _OWN
            hiding += shows[pixel] == HIDES
            overhanging += shows[pixel] == OVERHANGS
            beside += shows[pixel] == _BESIDE
        silhouette[row], blockers[row] = count - beside, hiding + overhanging
        if not has_depth and len(foot_px) and hiding and visible:  # nothing is behind an invisible object
            blockers[row] -= _stands_behind(
                spans[top:bottom], top, shows, visible + hiding, silhouette[row], foot_px, pinhole_px
            )
    return own_px, silhouette, blockers


@kernel
def _by_line(runs: Any, lines: int, row_of_id: Any, away_m: Any) -> tuple[IntArray, FloatArray, IntArray]:
    """Return (H + 1,) first runs of the lines, (R,) distances of the runs' objects, (N, 5) visible pixels of the boxes."""
    first_run, away_of_run_m = np.zeros(lines + 1, np.int64), np.empty(len(runs), np.float64)
    own_px = np.zeros((len(away_m), 5), np.int64)
    for run in range(len(runs)):
        line, begin, end, row = runs[run, 0], runs[run, 1], runs[run, 2], row_of_id[runs[run, 3]]
        first_run[line + 1] = run + 1
        away_of_run_m[run] = -1.0
        if row >= 0:
            away_of_run_m[run], box_px = away_m[row], own_px[row]
            if box_px[0] == 0:
                box_px[1], box_px[2] = begin, line
            box_px[0] += end - begin
            box_px[1], box_px[3], box_px[4] = min(box_px[1], begin), max(box_px[3], end), line + 1
    for line in range(lines):
        first_run[line + 1] = max(first_run[line + 1], first_run[line])
    return first_run, away_of_run_m, own_px


@kernel
def _look_closer(box: Any, v: int, first: int, show: Any, depth_m: Any, pinhole_px: Any) -> None:
    """Mark the pixels of a line that miss the box (a bent line may leave and re-enter it), and those that depth decides."""
    for pixel in range(len(show)):
        x, y = _pinhole_pixel(pinhole_px, first + pixel, v)
        enters_m = _enters_m(box, x, y)
        if pinhole_px.shape[0] and enters_m == np.inf:
            show[pixel] = _BESIDE
        elif depth_m.shape[0] and show[pixel] != _OWN:
            show[pixel] = HIDES if depth_m[v, first + pixel] < enters_m else OTHER


@kernel
def _meets(box: Any, u: int, v: int) -> bool:
    """Return whether a pixel's ray meets a box."""
    return bool(_enters_m(box, np.float64(u), np.float64(v)) < np.inf)


@kernel
def _met(box: Any, v: int, left: int, step: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Return the first column, and one past the last, of the pixels that meet a box; a box is convex, so all between do.

    Column ``c`` of ``end`` is the pixel at ``left + c * step``. The search starts at ``first`` and ``last`` of the line above.
    """
    if not end:
        return 0, 0
    first = min(first, end - 1)
    if _meets(box, left + first * step, v):
        while first > 0 and _meets(box, left + (first - 1) * step, v):
            first -= 1
    else:
        above, first = first, first + 1
        while first < end and not _meets(box, left + first * step, v):
            first += 1
        if first == end:
            first = 0
            while first < above and not _meets(box, left + first * step, v):
                first += 1
            if first == above:
                return end, end
    last = max(first + 1, min(last, end))
    if last == first + 1 or _meets(box, left + (last - 1) * step, v):
        while last < end and _meets(box, left + last * step, v):
            last += 1
        return first, last
    while not _meets(box, left + (last - 1) * step, v):
        last -= 1
    return first, last


@kernel
def rays_that_hit(rays: Any, pinhole_px: FloatArray) -> BoolArray:
    """Return (N,) bool, True where the ray of a pixel, (N, 2) in the pinhole's image, meets the box with (5, 3) rays."""
    met = np.zeros(len(pinhole_px), np.bool_)
    for n in range(len(pinhole_px)):
        met[n] = _enters_m(rays, pinhole_px[n, 0], pinhole_px[n, 1]) < np.inf
    return met


@kernel
def share_outside(rays: Rays, window_px: IntArray, stride_px: IntArray, size_px: IntArray) -> FloatArray:
    """Return the truncation of boxes: the share of the silhouette outside the image.

    Args:
        rays: (N, 5, 3) rays of N boxes.
        window_px: (N, 4) bounds of the silhouettes, inside the image or not.
        stride_px: (N,) sampling stride over columns and lines.
        size_px: (N, 2) width and height of the images.

    Returns:
        (N,) shares; 1 for a box that no sampled ray meets.
    """
    share = np.zeros(len(rays))
    for row in range(len(rays)):
        left, step, width_px, height_px = window_px[row, 0], stride_px[row], size_px[row, 0], size_px[row, 1]
        columns = _steps(window_px[row, 2] - left, step)
        first, last, total, inside = _FIRST, columns, 0, 0
        for v in range(window_px[row, 1], window_px[row, 3], step):
            first, last = _met(rays[row], v, left, step, columns, first, last)
            total += last - first
            if 0 <= v < height_px:
                inside += max(min(last, _steps(width_px - left, step)) - max(first, _steps(-left, step)), 0)
        share[row] = 1.0 - inside / max(total, 1)
    return share


@kernel
def _steps(reach: int, step: int) -> int:
    """Return the number of steps that cover a length, rounded up."""
    return -(-reach // step)


@kernel
def _stands_behind(spans: Any, top: int, shows: Any, most: int, pixels: int, foot_px: Any, pinhole_px: Any) -> int:
    """Count the hiding pixels of a box that show scenery behind the object.

    Upright objects extend away from the nadir in the image. From the nadir outward, scenery in front of an object comes before
    the object's pixels, and scenery behind it comes after them.
    """
    radius, across, along = np.empty(most, np.float64), np.empty(most, np.float64), np.empty(most, np.float64)
    is_own, pixel, count, total, nearest, farthest = np.empty(most, np.bool_), 0, 0, 0.0, np.inf, 0.0
    for line in range(len(spans)):
        for u in range(spans[line, 0], spans[line, 1]):
            show, pixel = shows[pixel], pixel + 1
            if show == _BESIDE:
                continue
            x, y = _pinhole_pixel(pinhole_px, u, top + line)
            x, y = x + 0.5 - foot_px[0], y + 0.5 - foot_px[1]
            away = math.hypot(x, y)
            total += away
            if show == _OWN:
                nearest = min(nearest, away)
            elif show == HIDES:
                farthest = max(farthest, away)
            else:
                continue
            radius[count], across[count], along[count], is_own[count] = away, x, y, show == _OWN
            count += 1
    mean_radius, count = max(total / pixels, 1.0), 0
    column, first, last = np.empty(len(is_own), np.int64), np.int64(2**62), -np.int64(2**62)
    for pixel in range(len(is_own)):
        is_between = radius[pixel] < farthest if is_own[pixel] else radius[pixel] > nearest
        if is_between:  # other pixels have no effect
            column[count] = math.floor(math.atan2(along[pixel], across[pixel]) * mean_radius)
            first, last = min(first, column[count]), max(last, column[count])
            radius[count], is_own[count] = radius[pixel], is_own[pixel]
            count += 1
    if not count:
        return 0
    first_own = np.empty(last - first + 1, np.float64)
    for pixel in range(len(first_own)):
        first_own[pixel] = np.inf
    for pixel in range(count):
        if is_own[pixel]:
            first_own[column[pixel] - first] = min(first_own[column[pixel] - first], radius[pixel])
    spared = 0
    for pixel in range(count):
        spared += not is_own[pixel] and radius[pixel] > first_own[column[pixel] - first]
    return spared
