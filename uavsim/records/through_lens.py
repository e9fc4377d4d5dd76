"""Arrays of a lens's wide pinhole image, made into those of the lens: ``Modality.through_lens``."""

from functools import lru_cache
from typing import Final

import numpy as np

from uavsim.geometry.lens import Lens
from uavsim.images.resample import Smooth, nearest_of
from uavsim.typing import AnyArray, IntArray

_KEPT: Final = 32  # lenses


def prepare(lens: Lens) -> None:
    """Work out which pixels a lens sees, which takes as long as fifty images."""
    _smooth(lens)
    _nearest(lens)


def colours(wide: AnyArray, lens: Lens) -> AnyArray:
    """Return an image's colours, averaged over what each pixel covers."""
    return _smooth(lens)(wide)


def values(wide: AnyArray, lens: Lens) -> AnyArray:
    """Return what cannot be mixed (ids, tags, depths): the value in which each pixel's centre lies."""
    flat = wide.reshape(-1, *wide.shape[2:])
    return np.ascontiguousarray(flat[_nearest(lens)])


@lru_cache(maxsize=_KEPT)
def _smooth(lens: Lens) -> Smooth:
    return Smooth.of(lens.wide_px_of_centres)


@lru_cache(maxsize=_KEPT)
def _nearest(lens: Lens) -> IntArray:
    return nearest_of(lens.wide_px_of_centres, width_px=lens.wide.width_px)
