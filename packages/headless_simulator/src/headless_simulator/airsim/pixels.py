"""Loops over pixels, compiled: segmentation ids and colours in one pass each."""

# ruff: noqa: PLR0917  (numba kernels take plain arrays, by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import STATIC_ID, UInt8

_STATIC: Final = np.uint32(STATIC_ID)
_PLAIN: Final = np.uint32(STATIC_ID - 1)


@kernel(error_model="python")
def ids_into(
    ids: Any,
    tag: Any,
    statics: Any,
    numbers: Any,
    mover_ids: Any,
    surfaces: Any,
    out: Any,
) -> None:
    """Write the segmentation id of every pixel, -1 where hidden.

    Args:
        ids: (N,) uint32 as in ``RenderedImage.ids``.
        tag: (N,) uint8 semantic tags, which name the surfaces without an id.
        statics: ids of static objects by object id.
        numbers: sorted numbers of movers.
        mover_ids: their ids.
        surfaces: (256,) ids of surfaces by semantic tag.
        out: (N,) int32.
    """
    last_code, last_tag, last = np.uint32(0), np.uint8(255), surfaces[255]
    for pixel in range(ids.shape[0]):
        code, label = ids[pixel], tag[pixel]
        if code != last_code or label != last_tag:
            last_code, last_tag, last = code, label, surfaces[label]
            plain = code & _PLAIN
            if code & _STATIC:
                if plain < statics.shape[0]:
                    last = statics[plain]
            elif plain != 0:
                low, high = 0, numbers.shape[0]
                while low < high:
                    middle = (low + high) // 2
                    if numbers[middle] < plain:
                        low = middle + 1
                    else:
                        high = middle
                if low < numbers.shape[0] and numbers[low] == plain:
                    last = mover_ids[low]
        out[pixel] = last


@kernel(error_model="python")
def paint_into(ids: Any, palette: Any, out: Any) -> None:
    """Colour ids by a palette; hidden ones look like id 0.

    Args:
        ids: (N,) int32 from -1 to 255.
        palette: (256, 3) uint8.
        out: (N, 3) uint8.
    """
    for pixel in range(ids.shape[0]):
        number = max(ids[pixel], 0)
        out[pixel, 0] = palette[number, 0]
        out[pixel, 1] = palette[number, 1]
        out[pixel, 2] = palette[number, 2]


@kernel(error_model="python")
def without_alpha_into(bgra: Any, out: Any) -> None:
    """Drop the fourth channel: (N, 4) to (N, 3) uint8."""
    for pixel in range(bgra.shape[0]):
        out[pixel, 0] = bgra[pixel, 0]
        out[pixel, 1] = bgra[pixel, 1]
        out[pixel, 2] = bgra[pixel, 2]


def without_alpha(bgra: UInt8) -> UInt8:
    """Give (H, W, 3) of (H, W, 4)."""
    out = np.empty((*bgra.shape[:2], 3), dtype=np.uint8)
    without_alpha_into(np.ascontiguousarray(bgra).reshape(-1, 4), out.reshape(-1, 3))
    return out


def compile_all() -> None:
    """Compile the loops now, on one pixel, so that no client has to wait for them."""
    ids, tag = np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint8)
    table, numbers = np.zeros(256, dtype=np.int32), np.zeros(1, dtype=np.uint32)
    out, bgr = np.zeros(1, dtype=np.int32), np.zeros((1, 3), dtype=np.uint8)
    ids_into(ids, tag, table, numbers, table, table, out)
    paint_into(out, np.zeros((256, 3), dtype=np.uint8), bgr)
    without_alpha_into(np.zeros((1, 4), dtype=np.uint8), bgr)
