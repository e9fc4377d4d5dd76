"""Rays through boxes, pixel by pixel, compiled: what ``silhouettes`` and ``visibility`` count.

A pixel's ray in the frame of a box is ``corner + across * (u + 0.5) + down * (v + 0.5)``; the slab test tells the depths at
which it enters and leaves. The coefficients are float32, everything else is float64.
"""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.images.compiled import kernel
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

__all__ = ["count_hits", "hidden_by_others", "list_hits", "most_in_front"]

Rays: TypeAlias = npt.NDArray[np.float32]
"""(N, 5, 3): camera centre in the box's frame, a ray's change per column, per line, the ray at (0, 0), half extents."""


@kernel
def _enters_m(rays: Any, u: Any, v: Any) -> Any:
    """Return the depth at which a pixel's ray enters a box, infinity where it does not."""
    near, far = -np.inf, np.inf
    for axis in range(3):
        direction = np.float64(rays[3, axis]) + np.float64(rays[1, axis]) * (u + 0.5)
        direction += np.float64(rays[2, axis]) * (v + 0.5)
        inverse = 1.0 / (direction if direction != 0.0 else 1e-12)
        middle = np.float64(-rays[0, axis]) * inverse
        reach = np.float64(rays[4, axis]) * abs(inverse)
        near, far = max(near, middle - reach), min(far, middle + reach)
    return near if near <= far and far > 0.0 else np.inf


@kernel
def count_hits(rays: Rays, window_px: IntArray, stride_px: IntArray) -> IntArray:
    """Count the pixels of each window whose rays meet its box."""
    count = np.zeros(len(rays), np.int64)
    for row in range(len(rays)):
        for v in range(window_px[row, 1], window_px[row, 3], stride_px[row]):
            for u in range(window_px[row, 0], window_px[row, 2], stride_px[row]):
                count[row] += _enters_m(rays[row], u, v) < np.inf
    return count


@kernel
def list_hits(
    rays: Rays, window_px: IntArray, stride_px: IntArray, count: IntArray
) -> tuple[IntArray, IntArray, IntArray, npt.NDArray[np.float64]]:
    """List them: box, column, line, depth."""
    total = count.sum()
    rows, us, vs = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    near_m = np.empty(total, np.float64)
    at = 0
    for row in range(len(rays)):
        for v in range(window_px[row, 1], window_px[row, 3], stride_px[row]):
            for u in range(window_px[row, 0], window_px[row, 2], stride_px[row]):
                enters_m = _enters_m(rays[row], u, v)
                if enters_m < np.inf:
                    rows[at], us[at], vs[at], near_m[at] = row, u, v, enters_m
                    at += 1
    return rows, us, vs, near_m


@kernel
def most_in_front(
    rays: Rays, window_px: IntArray, ids: UInt16Array, own_id: IntArray, away_of_id: FloatArray
) -> tuple[IntArray, IntArray]:
    """Find for each box the nearer one that most of its pixels show: (N,) ids, 0 for none, and (N,) pixels.

    Of two that show as many pixels, it is the one with the smaller id.

    Args:
        rays: (N, 5, 3) of the boxes.
        window_px: (N, 4) inside of the image.
        ids: (H, W) of the mask.
        own_id: (N,) ids of the boxes.
        away_of_id: (65536,) the distance of every box, negative where an id has none.
    """
    who, most_px = np.zeros(len(rays), np.int64), np.zeros(len(rays), np.int64)
    count = np.zeros(65536, np.int64)
    met = np.empty(65536, np.int64)
    for row in range(len(rays)):
        total = 0
        for v in range(window_px[row, 1], window_px[row, 3]):
            for u in range(window_px[row, 0], window_px[row, 2]):
                shown = np.int64(ids[v, u])
                nearer = shown > 0 and shown != own_id[row] and 0.0 <= away_of_id[shown] < away_of_id[own_id[row]]
                if nearer and _enters_m(rays[row], u, v) < np.inf:
                    if count[shown] == 0:
                        met[total] = shown
                        total += 1
                    count[shown] += 1
        for shown in met[:total]:
            if count[shown] > most_px[row] or (count[shown] == most_px[row] and shown < who[row]):
                who[row], most_px[row] = shown, count[shown]
            count[shown] = 0
    return who, most_px


@kernel
def hidden_by_others(
    rays: Rays,
    window_px: IntArray,
    ids: UInt16Array,
    tags: UInt8Array,
    depth_m: npt.NDArray[np.float32],
    own_id: IntArray,
    own_away_m: FloatArray,
    away_of_id: FloatArray,
    is_scenery: BoolArray,
    overhangs: BoolArray,
    foot_px: FloatArray,
) -> tuple[IntArray, IntArray]:
    """Count each box's pixels, and those of them that show something nearer.

    Args:
        rays: (M, 5, 3) of the boxes.
        window_px: (M, 4) inside of the image.
        ids: (H, W) of the mask.
        tags: (H, W) of the mask.
        depth_m: (H, W), or (0, 0) where none was recorded.
        own_id: (M,) ids of the boxes.
        own_away_m: (M,) their distances from the camera.
        away_of_id: (65536,) the distance of every box, -1 where an id has none.
        is_scenery: (256,) tags that hide what is behind them.
        overhangs: (256,) tags of what may hang over an object that it does not stand in front of.
        foot_px: (2,) the pixel of the point straight below the camera; empty where the camera does not look down.
    """
    silhouette, blockers = np.zeros(len(rays), np.int64), np.zeros(len(rays), np.int64)
    for row in range(len(rays)):
        x0, y0, x1, y1 = window_px[row]
        most = max(x1 - x0, 0) * max(y1 - y0, 0)
        us, vs = np.empty(most, np.int32), np.empty(most, np.int32)
        hides = np.empty(most, np.bool_)
        count = 0
        for v in range(y0, y1):
            for u in range(x0, x1):
                enters_m = _enters_m(rays[row], u, v)
                if enters_m == np.inf:
                    continue
                shown = ids[v, u]
                if shown == own_id[row]:
                    hides[count] = False
                elif depth_m.shape[0] > 0:
                    hides[count] = depth_m[v, u] < enters_m
                elif shown > 0:
                    hides[count] = away_of_id[shown] < own_away_m[row]
                else:
                    hides[count] = is_scenery[tags[v, u]]
                us[count], vs[count] = u, v
                count += 1
        silhouette[row] = count
        if depth_m.shape[0] == 0 and len(foot_px) and hides[:count].any():
            _spare_what_stands_behind(us[:count], vs[:count], hides, ids, tags, own_id[row], overhangs, foot_px)
        blockers[row] = hides[:count].sum()
    return silhouette, blockers


@kernel
def _spare_what_stands_behind(
    us: Any, vs: Any, hides: Any, ids: Any, tags: Any, own_id: int, overhangs: Any, foot_px: Any
) -> None:
    """Take back of one box's hiding pixels those that show what stands on the ground behind the object.

    Upright things rise in the image away from the point straight below the camera. Seen from that point outward, what stands
    in front of an object comes before the object's pixels and what stands behind it after them.
    """
    count = len(us)
    radius, angle = np.empty(count, np.float64), np.empty(count, np.float64)
    total = 0.0
    for at in range(count):
        across, along = us[at] + 0.5 - foot_px[0], vs[at] + 0.5 - foot_px[1]
        radius[at], angle[at] = math.hypot(across, along), math.atan2(along, across)
        total += radius[at]
    mean_radius = max(total / count, 1.0)
    column = np.floor(angle * mean_radius).astype(np.int64)
    first = column.min()
    first_own = np.full(column.max() - first + 1, np.inf)
    for at in range(count):
        if ids[vs[at], us[at]] == own_id:
            place = column[at] - first
            first_own[place] = min(first_own[place], radius[at])
    for at in range(count):
        behind = radius[at] > first_own[column[at] - first]
        if behind and not overhangs[tags[vs[at], us[at]]]:
            hides[at] = False
