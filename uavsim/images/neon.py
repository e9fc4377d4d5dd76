"""Detect neon colours: the corrupt images that a graphics card with full memory renders without an error.

Vulkan that runs out of memory loses textures and buffers; channels saturate or vanish one by one, and large areas become pure
red, green, blue, cyan, magenta or yellow (CARLA's issues 5801 and 7409). A lit street has no such areas: daylight has all
colours, and the tone mapper desaturates bright objects. A red lamp or one bright car has one colour and is small.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, UInt8Array

_LOW: Final = 16
_HIGH: Final = 239
_ROWS: Final = 50  # minimum number of sampled image rows
_LEAST_SHARE: Final = 0.05  # minimum share of pixels with any pure colour
_LEAST_EACH: Final = 0.01  # minimum share of pixels with each of two pure colours
_BITS: Final = np.array([1, 2, 4])


def pure_colours(image: UInt8Array) -> FloatArray:
    """Return the shares of pixels with each pure primary or secondary colour.

    Args:
        image: (H, W, 3) uint8 in any channel order, or (H, W, 4) with alpha last; every nth row and column is sampled.

    Returns:
        (6,) shares, one for each set of channels that are saturated while the others are black.
    """
    step = max(1, image.shape[0] // _ROWS)
    pixels = image[::step, ::step, :3].reshape(-1, 3)
    high, low = pixels >= _HIGH, pixels <= _LOW
    pure = (high | low).all(axis=1)
    counts = np.bincount(high[pure] @ _BITS, minlength=8)
    return counts[1:7] / len(pixels)


def is_neon(images: Iterable[UInt8Array]) -> bool:
    """Return whether the (H, W, 3 or 4) images of a tick together have large areas of at least two pure colours."""
    shares = np.mean([pure_colours(image) for image in images], axis=0)
    return bool(shares.sum() >= _LEAST_SHARE and np.sort(shares)[-2] >= _LEAST_EACH)
