"""Resample images at given positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from uavsim.typing import AnyArray, FloatArray, IntArray

_MOST_SAMPLES: Final = 3  # along a side of a pixel


def nearest_of(positions_px: FloatArray, *, width_px: int) -> IntArray:
    """Return (H, W) int64 flat indices, in an image of this width, of the pixels that hold (H, W, 2) positions."""
    column, line = np.moveaxis(np.floor(positions_px).astype(np.int64), -1, 0)
    return np.asarray(line * width_px + column)


@dataclass(frozen=True, slots=True, eq=False)
class Smooth:
    """Bilinear resampling of colours, to 1/32 pixel, with the average of several samples where a pixel covers several.

    Attributes:
        samples: number of samples along each side of a pixel.
        maps: OpenCV's fixed-point form of the sample positions.
    """

    samples: int
    maps: tuple[AnyArray, AnyArray]

    @classmethod
    def of(cls, positions_px: FloatArray) -> Smooth:
        """Build it from the (H, W, 2) positions of the pixel centres; positions inside a pixel are evenly spaced."""
        down, across = (np.asarray(np.gradient(positions_px, axis=axis)) for axis in (0, 1))
        area = np.abs(across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0])
        samples = int(np.clip(np.ceil(np.sqrt(area.mean()) - 0.1), 1, _MOST_SAMPLES))
        offset = (np.arange(samples) + 0.5) / samples - 0.5
        fine = positions_px[:, None, :, None] + down[:, None, :, None] * offset[:, None, None, None]
        fine = fine + across[:, None, :, None] * offset[:, None]
        height, width = positions_px.shape[:2]
        fine = (fine - 0.5).reshape(height * samples, width * samples, 2).astype(np.float32)
        return cls(samples, cv2.convertMaps(fine[..., 0], fine[..., 1], cv2.CV_16SC2))

    def __call__(self, image: AnyArray) -> AnyArray:
        """Resample an (h, w, ...) uint8 image to (H, W, ...) uint8."""
        found = cv2.remap(image, *self.maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        if self.samples > 1:
            size = (found.shape[1] // self.samples, found.shape[0] // self.samples)
            found = cv2.resize(found, size, interpolation=cv2.INTER_AREA)
        return np.asarray(found)


def colours_at(image: AnyArray, positions_px: FloatArray) -> AnyArray:
    """Return the (H, W, ...) colours of an image at (H, W, 2) positions; black at NaN and outside."""
    maps = np.nan_to_num(positions_px - 0.5, nan=-10.0).astype(np.float32)
    found = cv2.remap(image, maps[..., 0], maps[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    height, width = image.shape[:2]
    inside = ((positions_px >= 0.0) & (positions_px <= [width, height])).all(axis=-1)
    found[~inside] = 0
    return np.asarray(found)
