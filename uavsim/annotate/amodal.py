"""Amodal size: the pixels of an object if nothing were in front of it."""

from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray

_TRUST_FILL_BELOW: Final = (
    0.7  # below this visible share, without a blocker, something that looks like ground hides the object
)


def amodal_pixels(
    visible_px: IntArray, *, silhouette_px: IntArray, blockers_px: IntArray, fill: FloatArray
) -> IntArray:
    """Estimate how many pixels objects would have if nothing were in front of them.

    Args:
        visible_px: (M,) visible pixels.
        silhouette_px: (M,) pixels inside the silhouettes of their boxes.
        blockers_px: (M,) silhouette pixels that show something nearer.
        fill: (M,) share of the box's silhouette that the object covers from this direction.

    Returns:
            (M,) int64 pixels, at least ``visible_px``.
    """
    expected = fill * silhouette_px
    hidden_at_most = visible_px + blockers_px
    trust_fill = visible_px < _TRUST_FILL_BELOW * np.minimum(expected, 1e9)
    trust_fill &= blockers_px < 0.5 * (expected - visible_px)
    whole = np.where(trust_fill, expected, np.minimum(expected, hidden_at_most))
    return np.maximum(np.rint(whole).astype(np.int64), visible_px)
