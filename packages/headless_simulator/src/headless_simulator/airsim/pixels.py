"""Segmentation ids of pixels, as a compiled loop."""

# ruff: noqa: PLR0917  (numba kernels take plain arrays, by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import STATIC_ID

_STATIC: Final = np.uint32(STATIC_ID)
_PLAIN: Final = np.uint32(STATIC_ID - 1)


@kernel(error_model="python")
def ids_into(ids: Any, tag: Any, statics: Any, numbers: Any, mover_ids: Any, surfaces: Any, out: Any) -> None:
    """Write the segmentation id of every pixel, -1 where hidden.

    Args:
        ids: (N,) uint32 as in ``RenderedImage.ids``.
        tag: (N,) uint8 semantic tags, which name the surfaces without an id.
        statics: (S,) int32 segmentation ids of static objects by object id.
        numbers: (M,) uint32 sorted actor ids of movers.
        mover_ids: (M,) int32 segmentation ids of movers.
        surfaces: (256,) int32 segmentation ids of surfaces by semantic tag.
        out: (N,) int32, written.
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
                row = np.searchsorted(numbers, plain)
                if row < numbers.shape[0] and numbers[row] == plain:
                    last = mover_ids[row]
        out[pixel] = last


def compile_all() -> None:
    """Compile the kernel on one pixel, so that no client waits for it."""
    ids, tag = np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint8)
    table, out = np.zeros(256, dtype=np.int32), np.zeros(1, dtype=np.int32)
    ids_into(ids, tag, table, ids, table, table, out)
