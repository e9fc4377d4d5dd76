"""Edges of images, and regions made wider."""

from typing import Final

import cv2
import numpy as np

from uavsim.typing import BoolArray, UInt8Array

_LOW: Final = 100
_HIGH: Final = 200


def thin_edges(pixels: UInt8Array) -> BoolArray:
    """Return (H, W) Canny's edges of (H, W, 3) RGB, with the thresholds of Cosmos Transfer's ``medium``."""
    return np.asarray(cv2.Canny(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), _LOW, _HIGH) > 0)


def grown(where: BoolArray, by_px: int) -> BoolArray:
    """Return (H, W) a region with all pixels that are no farther from it, along lines and columns."""
    kernel = np.ones((2 * by_px + 1, 2 * by_px + 1), dtype=np.uint8)
    return np.asarray(cv2.dilate(where.astype(np.uint8), kernel) > 0)
