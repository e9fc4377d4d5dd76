"""Anti-aliasing of small flying objects by their pixel coverage.

A z-buffer samples each pixel once, at its centre: an aircraft two pixels wide would flicker and lose its wings. Therefore the
surroundings of small flying objects are drawn again, enlarged, and the mean over each pixel replaces the pixels that they
touch. Depth, ids and tags stay those of the pixels' centres.
"""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from headless_simulator.render.camera import NEAR_M, pack
from headless_simulator.scene import Float64, Movers, RenderedImage, UInt32, View, Window

_LARGEST_PX: Final = 90.0  # radius; larger objects have enough pixels
_PATCH_PX: Final = 384  # longer side of an enlarged view, so that all cost about the same
_LEAST_ZOOM, _MOST_ZOOM = (
    4,
    48,
)  # a wing seen edge-on is a twentieth of a pixel high and is continuous with two lines


def patches_of(view: View, movers: Movers, radius_m: Float64) -> Iterator[View]:
    """Yield enlarged views of small flying objects.

    Args:
        view: the whole image.
        movers: all movers.
        radius_m: (N,) radius of the movers' models around their origin; 0 for non-flying ones.
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
    """Replace the pixels that flying objects touch by the mean of their enlarged pixels.

    Args:
        image: the whole image; its colours change.
        enlarged: the enlarged part.
        patch: view of the part.
        flying: (N,) uint32 ids of flying movers.
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
