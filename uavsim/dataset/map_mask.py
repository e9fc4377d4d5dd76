"""The map mask of a town: white for the drivable area, 0.1 m per pixel, north up.

The devkit puts the bottom left pixel at (0, 0) of the map frame, but towns extend around it. The mask therefore starts at the
town's ``mask_origin_map_m``, the column ``uav_mask_origin`` of the table ``map``.
"""

from collections.abc import Sequence

import numpy as np

from uavsim.dataset.assemble import METRES_PER_MAP_PIXEL
from uavsim.errors import InputError
from uavsim.images import codec, draw
from uavsim.records.plan import TownSite
from uavsim.typing import FloatArray, UInt8Array

_MOST_PIXELS = 400_000_000


def draw_map_mask(site: TownSite, drivable_map_m: Sequence[FloatArray]) -> bytes:
    """Return the mask as PNG, 255 for the drivable area.

    Args:
        site: the town, with the bounds of the mask.
        drivable_map_m: polygons of (N, 2) or (N, 3) map points, metres.

    Raises:
        InputError: the bounds are empty or too large.
    """
    x_min, y_min = site.mask_origin_map_m
    _, _, x_max, y_max = site.map_bounds_m
    width, height = (round((high - low) / METRES_PER_MAP_PIXEL) for low, high in ((x_min, x_max), (y_min, y_max)))
    if width <= 0 or height <= 0 or width * height > _MOST_PIXELS:
        raise InputError(f"town {site.name}: invalid mask size {width} x {height}; check its bounds and mask origin")
    mask: UInt8Array = np.zeros((height, width), dtype=np.uint8)
    origin = np.array([x_min, y_min])
    pixels = [(np.asarray(p, dtype=np.float64)[:, :2] - origin) / METRES_PER_MAP_PIXEL for p in drivable_map_m]
    draw.draw_polygons(mask, [np.stack([p[:, 0], height - p[:, 1]], axis=1) for p in pixels], colour=(255, 255, 255))
    return codec.encode_png(mask, level=6)
