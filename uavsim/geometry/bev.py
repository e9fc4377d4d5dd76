"""Raster of the ground around an agent, seen from above."""

from dataclasses import dataclass

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray

_MOST_PIXELS = 100_000_000


@dataclass(frozen=True, slots=True)
class BevFrame:
    """A raster as nuScenes' models crop it (``NuScenesMap.get_map_mask``): columns along the heading, rows to its left.

    Attributes:
        centre_map_m: x, y of the agent in the map frame; the raster's middle.
        yaw_rad: the agent's heading in the map frame.
        size_m: length along the heading and across it.
        metres_per_px: side of a pixel.
    """

    centre_map_m: tuple[float, float]
    yaw_rad: float
    size_m: tuple[float, float] = (100.0, 100.0)
    metres_per_px: float = 0.5

    def __post_init__(self) -> None:
        """Validate the size.

        Raises:
            InputError: the raster has no pixels or more than ``_MOST_PIXELS``.
        """
        width, height = (side / self.metres_per_px for side in self.size_m) if self.metres_per_px > 0 else (0.0, 0.0)
        if not (width >= 1 and height >= 1 and width * height <= _MOST_PIXELS):
            raise InputError(
                f"a raster of {self.size_m[0]:g} m x {self.size_m[1]:g} m with {self.metres_per_px:g} m per pixel "
                f"has no pixels, or more than {_MOST_PIXELS:,}"
            )

    @property
    def size_px(self) -> tuple[int, int]:
        """Number of columns and rows."""
        return round(self.size_m[0] / self.metres_per_px), round(self.size_m[1] / self.metres_per_px)

    @property
    def bounds_map_m(self) -> tuple[float, float, float, float]:
        """x_min, y_min, x_max, y_max (map, metres) of a square that holds the raster at any heading."""
        x, y = self.centre_map_m
        reach = float(np.hypot(*self.size_m)) / 2
        return x - reach, y - reach, x + reach, y + reach

    def px(self, points_map_m: FloatArray) -> FloatArray:
        """Project map points into the raster.

        Args:
            points_map_m: (N, 2) or (N, 3) points in the map frame, metres.

        Returns:
            (N, 2) column and row, pixels; (0, 0) is the centre of the first pixel.
        """
        cos, sin = np.cos(self.yaw_rad), np.sin(self.yaw_rad)
        off = points_map_m[:, :2] - self.centre_map_m
        ahead, left = off[:, 0] * cos + off[:, 1] * sin, off[:, 1] * cos - off[:, 0] * sin
        half = np.array(self.size_m) / 2
        return np.asarray((np.stack([ahead, left], axis=1) + half) / self.metres_per_px - 0.5)
