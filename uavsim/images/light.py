"""Light of stored images: they are made for screens; light adds up in linear values."""

from typing import Final

import numpy as np

from uavsim.typing import AnyArray, FloatArray, UInt8Array

GAMMA: Final = 2.2
_LIGHT: Final = ((np.arange(256) / 255.0) ** GAMMA).astype(np.float32)


def light_of(image: AnyArray) -> AnyArray:
    """Return the light of (..., K) uint8 values as float32, 0 to 1."""
    return np.take(_LIGHT, image)


def stored(light: AnyArray) -> UInt8Array:
    """Return light as it is stored; what ``light_of`` took comes back as it was."""
    return np.asarray(np.rint(np.clip(light, 0.0, 1.0) ** np.float32(1.0 / GAMMA) * 255.0), dtype=np.uint8)


def dimmed(image: AnyArray, share: FloatArray) -> UInt8Array:
    """Return an (H, W, 3 or 4) image of which each pixel has got (H, W) of its light."""
    factor = (share ** (1.0 / GAMMA)).astype(np.float32)  # the same as in light, without going there and back
    return np.asarray(np.rint(image * factor[..., None]), dtype=np.uint8)
