"""Conversion of arrays from a lens's wide pinhole image to the lens's image, for ``Modality.through_lens``."""

from functools import lru_cache
from typing import Final

import numpy as np

from uavsim.geometry.lens import Lens
from uavsim.images.resample import Smooth, nearest_of
from uavsim.typing import AnyArray, IntArray

_KEPT: Final = 32  # lenses


def prepare(lens: Lens) -> None:
    """Compute the pixel maps of a lens ahead, which takes as long as fifty images."""
    _smooth(lens)
    _nearest(lens)


def colours(wide: AnyArray, lens: Lens) -> AnyArray:
    """Return an (H, W, C) image's colours, averaged over the area of each pixel."""
    return _smooth(lens)(wide)


def values(wide: AnyArray, lens: Lens) -> AnyArray:
    """Return (H, W) ids, tags or depths at each pixel's centre, because they cannot be averaged."""
    flat = wide.reshape(-1, *wide.shape[2:])
    return np.ascontiguousarray(flat[_nearest(lens)])


@lru_cache(maxsize=_KEPT)
def _smooth(lens: Lens) -> Smooth:
    return Smooth.of(lens.wide_px_of_centres)


@lru_cache(maxsize=_KEPT)
def _nearest(lens: Lens) -> IntArray:
    return nearest_of(lens.wide_px_of_centres, width_px=lens.wide.width_px)
