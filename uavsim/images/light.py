"""Conversions between stored (gamma-encoded) pixel values and linear light."""

from typing import Final

import numpy as np

from uavsim.typing import AnyArray, FloatArray, UInt8Array

GAMMA: Final = 2.2
_LIGHT: Final = ((np.arange(256) / 255.0) ** GAMMA).astype(np.float32)


def light_of(image: AnyArray) -> AnyArray:
    """Convert (..., K) uint8 values to (..., K) float32 linear light, 0 to 1."""
    return np.take(_LIGHT, image)


def stored(light: AnyArray) -> UInt8Array:
    """Convert (..., K) linear light to (..., K) uint8 values; the inverse of ``light_of``."""
    return np.asarray(np.rint(np.clip(light, 0.0, 1.0) ** np.float32(1.0 / GAMMA) * 255.0), dtype=np.uint8)


def dimmed(image: AnyArray, share: FloatArray) -> UInt8Array:
    """Scale the light of an (H, W, 3 or 4) uint8 image by (H, W) shares."""
    factor = (share ** (1.0 / GAMMA)).astype(np.float32)  # equals scaling in linear light
    return np.asarray(np.rint(image * factor[..., None]), dtype=np.uint8)
