"""Rays through boxes, pixel by pixel, compiled: what ``silhouettes`` and ``visibility`` count.

A pixel's ray in the frame of a box is ``corner + across * (u + 0.5) + down * (v + 0.5)``; the slab test reports the depths at
which it enters and leaves. The coefficients are float32, everything else is float64.
"""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from uavsim.images.compiled import kernel
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

Places: TypeAlias = npt.NDArray[np.float32]

Rays: TypeAlias = npt.NDArray[np.float32]
"""(N, 5, 3) of a pinhole: camera centre in the box's frame, a ray's change per column, per line, that at (0, 0), half size."""

_OTHER, _HIDES, _OWN, _BESIDE = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(3)  # what a pixel of a box's line shows


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
def _place(place_px: Any, u: int, v: int) -> tuple[float, float]:
    """Return the column and line of a pixel in the pinhole's image, where rays are straight."""
    if place_px.shape[0] == 0:
        return np.float64(u), np.float64(v)
    return np.float64(place_px[v, u, 0]), np.float64(place_px[v, u, 1])


@kernel
def most_in_front(
    rays: Rays, window_px: IntArray, ids: UInt16Array, own_id: IntArray, away_of_id: FloatArray, place_px: Places
) -> tuple[IntArray, IntArray]:
    """Find for each box the nearer one that most of its pixels show: (N,) ids, 0 for none, and (N,) pixels.

    Of two that show as many pixels, it is the one with the smaller id.

    Args:
        rays: (N, 5, 3) of the boxes.
        window_px: (N, 4) inside of the image.
        ids: (H, W) of the mask.
        own_id: (N,) ids of the boxes.
        away_of_id: (65536,) the distance of every box, negative where an id has none.
        place_px: (H, W, 2) columns and lines in the pinhole's image; (0, 0, 2) of a pinhole.
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
                if not nearer:
                    continue
                x, y = _place(place_px, u, v)
                if _enters_m(rays[row], x, y) < np.inf:
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
    row_of_id: npt.NDArray[np.int32],
    away_m: FloatArray,
    is_scenery: BoolArray,
    overhangs: BoolArray,
    foot_px: FloatArray,
    place_px: Places,
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
        row_of_id: (65536,) where an id's box is in ``away_m``, -1 where it has none: such a thing is taken to be in front.
        away_m: the distance of every box.
        is_scenery: (256,) tags that hide what is behind them.
        overhangs: (256,) tags of what may hang over an object that it does not stand in front of.
        foot_px: (2,) the pinhole's pixel of the point straight below the camera; empty where the camera does not look down.
        place_px: (H, W, 2) columns and lines in the pinhole's image; (0, 0, 2) of a pinhole.
    """
    silhouette, blockers = np.zeros(len(rays), np.int64), np.zeros(len(rays), np.int64)
    has_depth, is_bent = depth_m.shape[0] > 0, place_px.shape[0] > 0
    spans, shows = np.empty((ids.shape[0], 2), np.int64), np.empty(ids.shape[0] * ids.shape[1], np.uint8)
    for row in range(len(rays)):
        left, top, right, bottom = window_px[row, 0], window_px[row, 1], window_px[row, 2], window_px[row, 3]
        first, last, count, own, hiding, beside = left, right, 0, 0, 0, 0
        for v in range(top, bottom):
            first, last = _met(rays[row], v, left, right, first, last, place_px)
            spans[v, 0], spans[v, 1] = first, last
            ids_of, tags_of = ids[v], tags[v]
            for u in range(first, last):
                shown, show = ids_of[u], _OTHER
                if is_bent and _enters_m(rays[row], place_px[v, u, 0], place_px[v, u, 1]) == np.inf:
                    show = _BESIDE  # a bent line may leave a box and come back
                    beside += 1
                elif shown == own_id[row]:
                    show = _OWN
                    own += 1
                elif has_depth:
                    x, y = _place(place_px, u, v)
                    if depth_m[v, u] < _enters_m(rays[row], x, y):
                        show = _HIDES
                elif shown > 0:
                    at = row_of_id[shown]
                    if at < 0 or away_m[at] < own_away_m[row]:
                        show = _HIDES
                elif is_scenery[tags_of[u]]:
                    show = _HIDES
                hiding += show == _HIDES
                shows[count] = show
                count += 1
        silhouette[row], blockers[row] = count - beside, hiding
        if not has_depth and len(foot_px) and hiding and own:  # nothing stands behind what shows no pixel
            blockers[row] -= _stands_behind(
                spans[top:bottom], top, shows, own + hiding, silhouette[row], tags, overhangs, foot_px, place_px
            )
    return silhouette, blockers


@kernel
def _meets(rays: Any, u: int, v: int, place_px: Any) -> bool:
    """Return whether a pixel's ray meets a box."""
    x, y = _place(place_px, u, v)
    return bool(_enters_m(rays, x, y) < np.inf)


@kernel
def _met(rays: Any, v: int, begin: int, end: int, first: int, last: int, place_px: Any) -> tuple[int, int]:
    """Return the columns of a line, first and one past the last, whose rays meet a box: it is convex, so all between do.

    They are looked for from ``first`` and ``last``, those of the line above; of a bent line, from both ends.
    """
    if begin >= end:
        return end, end
    first, last = (begin, end) if place_px.shape[0] else (max(begin, min(first, end - 1)), last)
    if _meets(rays, first, v, place_px):
        while first > begin and _meets(rays, first - 1, v, place_px):
            first -= 1
    else:
        above, first = first, first + 1
        while first < end and not _meets(rays, first, v, place_px):
            first += 1
        if first == end:
            first = begin
            while first < above and not _meets(rays, first, v, place_px):
                first += 1
            if first == above:
                return end, end
    last = max(first + 1, min(last, end))
    if last == first + 1 or _meets(rays, last - 1, v, place_px):
        while last < end and _meets(rays, last, v, place_px):
            last += 1
        return first, last
    while not _meets(rays, last - 1, v, place_px):
        last -= 1
    return first, last


@kernel
def rays_met(rays: Any, place_px: FloatArray) -> BoolArray:
    """Return which of (N, 2) columns and lines of the pinhole's image have rays that meet a box, (5, 3)."""
    met = np.zeros(len(place_px), np.bool_)
    for at in range(len(place_px)):
        met[at] = _enters_m(rays, place_px[at, 0], place_px[at, 1]) < np.inf
    return met


@kernel
def share_outside(rays: Rays, window_px: IntArray, stride_px: IntArray, width_px: int, height_px: int) -> FloatArray:
    """Return the share (N,) of the pixels whose rays meet a box that lies outside of the image; 1 where no ray does.

    Args:
        rays: (N, 5, 3) of the boxes.
        window_px: (N, 4) that holds the boxes, inside of the image or not.
        stride_px: (N,) stride over columns and lines.
        width_px: of the image.
        height_px: of the image.
    """
    share = np.zeros(len(rays))
    for row in range(len(rays)):
        total, inside = 0, 0
        for v in range(window_px[row, 1], window_px[row, 3], stride_px[row]):
            for u in range(window_px[row, 0], window_px[row, 2], stride_px[row]):
                if _enters_m(rays[row], np.float64(u), np.float64(v)) < np.inf:
                    total += 1
                    inside += 0 <= u < width_px and 0 <= v < height_px
        share[row] = 1.0 - inside / max(total, 1)
    return share


@kernel
def _stands_behind(
    spans: Any, top: int, shows: Any, most: int, pixels: int, tags: Any, overhangs: Any, foot_px: Any, place_px: Any
) -> int:
    """Count those of one box's hiding pixels that show what stands on the ground behind the object.

    Upright things rise in the image away from the point straight below the camera. Seen from that point outward, what stands
    in front of an object comes before the object's pixels and what stands behind it after them.
    """
    radius, angle, own = np.empty(most, np.float64), np.empty(most, np.float64), np.empty(most, np.uint8)
    at, some, total = 0, 0, 0.0
    for line in range(len(spans)):
        for u in range(spans[line, 0], spans[line, 1]):
            show, at = shows[at], at + 1
            if show == _BESIDE:
                continue
            x, y = _place(place_px, u, top + line)
            across, along = x + 0.5 - foot_px[0], y + 0.5 - foot_px[1]
            away = math.hypot(across, along)
            total += away
            if show == _OWN or (show == _HIDES and not overhangs[tags[top + line, u]]):
                radius[some], angle[some], own[some] = away, math.atan2(along, across), show == _OWN
                some += 1
    mean_radius = max(total / pixels, 1.0)
    column = np.empty(some, np.int64)
    for at in range(some):
        column[at] = math.floor(angle[at] * mean_radius)
    first, last = column[0], column[0]
    for at in range(some):
        first, last = min(first, column[at]), max(last, column[at])
    first_own = np.empty(last - first + 1, np.float64)
    for at in range(len(first_own)):
        first_own[at] = np.inf
    for at in range(some):
        if own[at]:
            first_own[column[at] - first] = min(first_own[column[at] - first], radius[at])
    spared = 0
    for at in range(some):
        spared += not own[at] and radius[at] > first_own[column[at] - first]
    return spared
