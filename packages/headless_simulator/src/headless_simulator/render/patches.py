"""Anti-aliasing of small flying objects: a pixel shows the share that they cover.

A z-buffer asks once a pixel, at its centre: an aircraft two pixels wide would flicker and lose its wings. So what flies and is
small in the image is drawn once more, enlarged, with all that is around it, and the mean over each pixel replaces the pixels
that it touches. Depth, ids and tags stay those of the pixels' centres.
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from headless_simulator.render.camera import NEAR_M, pack
from headless_simulator.scene import Float64, Movers, RenderedImage, UInt32, View, Window

_LARGEST_PX: Final = 90.0  # radius; larger objects have enough pixels
_PATCH_PX: Final = 384  # longer side of an enlarged view, so that each costs about the same
_LEAST_ZOOM, _MOST_ZOOM = (
    4,
    48,
)  # a wing seen edge-on is a twentieth of a pixel high and needs two lines to be continuous


def patches_of(view: View, movers: Movers, radius_m: Float64) -> Iterator[View]:
    """Yield the enlarged views of what flies and is small.

    Args:
        view: the whole image.
        movers: everything that moves.
        radius_m: (N,) of the movers' models around their origin; 0 for what does not fly.
    """
    if not radius_m.any() or view.window is not None:
        return
    camera = pack(view)
    for row in np.flatnonzero(radius_m > 0.0):
        offset = movers.pose[row, :3] - camera[0:3]
        x, y, z = (float(camera[3 + 3 * axis : 6 + 3 * axis] @ offset) for axis in range(3))
        if z <= NEAR_M + float(radius_m[row]):
            continue
        reach = float(camera[12] * radius_m[row] / z)
        u, v = float(camera[13] + camera[12] * x / z), float(camera[14] + camera[12] * y / z)
        if reach > _LARGEST_PX:
            continue
        left, right = max(math.floor(u - reach) - 1, 0), min(math.ceil(u + reach) + 1, view.width)
        top, bottom = max(math.floor(v - reach) - 1, 0), min(math.ceil(v + reach) + 1, view.height)
        if left >= right or top >= bottom:
            continue
        zoom = min(max(_PATCH_PX // max(right - left, bottom - top), _LEAST_ZOOM), _MOST_ZOOM)
        window = Window(left, top, view.width, view.height, zoom)
        yield View(view.pose, (right - left) * zoom, (bottom - top) * zoom, view.fov_deg, window)


def blend_patch(image: RenderedImage, enlarged: RenderedImage, patch: View, flying: UInt32) -> None:
    """Replace the pixels that something flying touches by the mean of what they show.

    Args:
        image: whole; its colours change.
        enlarged: the part.
        patch: its view.
        flying: (N,) ids of what flies.
    """
    window = patch.window
    assert window is not None
    assert image.bgra is not None
    assert enlarged.bgra is not None
    zoom, width, height = window.zoom, patch.width // window.zoom, patch.height // window.zoom
    touched = np.isin(enlarged.ids, flying).reshape(height, zoom, width, zoom).any(axis=(1, 3))
    mean = enlarged.bgra.reshape(height, zoom, width, zoom, 4).astype(np.uint32).sum(axis=(1, 3))
    colour = ((mean + zoom * zoom // 2) // (zoom * zoom)).astype(np.uint8)
    part = image.bgra[window.top : window.top + height, window.left : window.left + width]
    part[touched] = colour[touched]
