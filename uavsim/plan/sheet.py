"""A canvas, or a panel of one, with the map frame from above."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.images import draw
from uavsim.typing import FloatArray, UInt8Array

INK: Final[draw.Colour] = (40, 44, 52)
FAINT: Final[draw.Colour] = (178, 176, 170)


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A canvas with a transform from the map frame to pixels; north (y) is up.

    Attributes:
        left_m: smallest visible x.
        top_m: largest visible y.
        corner_px: canvas position of (``left_m``, ``top_m``).
    """

    canvas: UInt8Array
    left_m: float
    top_m: float
    px_per_m: float
    corner_px: tuple[float, float]

    def px(self, points_m: FloatArray) -> FloatArray:
        """Return (..., 2) pixels of (..., 2) or (..., 3) map points, metres."""
        x = (points_m[..., 0] - self.left_m) * self.px_per_m + self.corner_px[0]
        y = (self.top_m - points_m[..., 1]) * self.px_per_m + self.corner_px[1]
        return np.stack([x, y], axis=-1)


def blank(width_px: int, height_px: int, *, colour: draw.Colour) -> UInt8Array:
    """Return a (height_px, width_px, 3) uint8 image of one colour."""
    canvas = np.empty((height_px, width_px, 3), dtype=np.uint8)
    canvas[:] = colour
    return canvas
