"""Agreement of a repainted image with an object's mask.

Two measures compare an image with a mask. *Edge*: the image's change across the mask's outline, by a structure tensor of
saturated strength, for every shift of the outline by up to 8 pixels. *Mask*: Hellinger's distance between the colour
histograms of the mask and of a ring around it. The values of the original image are the reference.
"""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from uavsim.typing import BoolArray, FloatArray, UInt8Array

_MAX_SHIFT_PX: Final = 8
_RING_PX: Final = 6
_TOLERANCE_PX: Final = 2.0
_EDGE_STRENGTH: Final = 12.0  # grey levels a pixel
_BINS: Final = 8
_LEAST_MEASURE: Final = 0.15  # of a label with a measurable state
_MOVED_SHARE: Final = 0.6
_MOVED_RATIO: Final = 1.5
_KEPT_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Agreement:
    """Measures of an object in an image.

    Attributes:
        edge: edge strength along the outline, 0 to 1, relative to other shifts.
        best: edge strength at the best shift.
        shift_px: (x, y) of the best shift.
        mask: Hellinger's distance between colours inside and outside, 0 to 1.
        best_mask: Hellinger's distance for the mask at the best shift.
    """

    edge: float
    best: float
    shift_px: tuple[int, int]
    mask: float
    best_mask: float


def agreement(pixels: UInt8Array, mask: BoolArray) -> Agreement:
    """Measure an object in an image.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        mask: (H, W) bool, pixels of the object, not empty.
    """
    margin = _MAX_SHIFT_PX + 4
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    height, width = mask.shape
    top, bottom = max(rows[0] - margin, 0), min(rows[-1] + margin + 1, height)
    left, right = max(columns[0] - margin, 0), min(columns[-1] + margin + 1, width)
    crop, inside = pixels[top:bottom, left:right], mask[top:bottom, left:right]
    support = _support(crop, inside)
    distance_px = np.hypot(*(np.indices(support.shape) - _MAX_SHIFT_PX))
    ground = float(np.median(support[distance_px > _TOLERANCE_PX]))
    ranked = np.where(distance_px <= _TOLERANCE_PX, support + 1e-6 * (9 - distance_px), support)
    best_index = np.unravel_index(int(np.argmax(ranked)), support.shape)
    dx, dy = int(best_index[1]) - _MAX_SHIFT_PX, int(best_index[0]) - _MAX_SHIFT_PX
    return Agreement(
        edge=float(support[distance_px <= _TOLERANCE_PX].max()) - ground,
        best=float(support[best_index]) - ground,
        shift_px=(dx, dy),
        mask=_contrast(crop, inside),
        best_mask=_contrast(crop, np.roll(inside, (dy, dx), axis=(0, 1))),
    )


def label_state(before: Agreement, after: Agreement) -> str:
    """Return kept, moved or gone; unclear where the original image shows no outline or contrast of the object."""
    if before.edge < _LEAST_MEASURE or before.mask < _LEAST_MEASURE or max(np.abs(before.shift_px)) > _TOLERANCE_PX:
        return "unclear"
    share, elsewhere = after.edge / before.edge, after.best / before.edge
    is_elsewhere = elsewhere > _MOVED_SHARE and after.best_mask > _MOVED_SHARE * before.mask
    if (
        _TOLERANCE_PX < max(np.abs(after.shift_px)) < _MAX_SHIFT_PX
        and is_elsewhere
        and after.best > _MOVED_RATIO * after.edge
    ):
        return "moved"
    return "kept" if share > _KEPT_SHARE and after.mask > _KEPT_SHARE * before.mask else "gone"


def _support(crop: UInt8Array, inside: BoolArray) -> FloatArray:
    """Return (17, 17) mean edge strengths across the outline for shifts of -8 to 8 lines and columns."""
    smooth = cv2.GaussianBlur(crop, (0, 0), 0.8).astype(np.float32)
    dx, dy = (cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3) / 8 for order in ((1, 0), (0, 1)))
    tensor = np.stack([(dx * dx).sum(axis=2), 2 * (dx * dy).sum(axis=2), (dy * dy).sum(axis=2)], axis=2)
    tensor /= (tensor[..., 0] + tensor[..., 2] + _EDGE_STRENGTH**2)[..., None]
    soft = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 1.0)
    nx, ny = (cv2.Sobel(soft, cv2.CV_32F, *order, ksize=3) / 8 for order in ((1, 0), (0, 1)))
    outline = np.stack([nx * nx, nx * ny, ny * ny], axis=2)
    weight = float((nx * nx + ny * ny).sum())
    padded = np.pad(tensor, ((_MAX_SHIFT_PX, _MAX_SHIFT_PX), (_MAX_SHIFT_PX, _MAX_SHIFT_PX), (0, 0)))
    return np.asarray(cv2.matchTemplate(padded, outline, cv2.TM_CCORR) / max(weight, 1e-9), dtype=np.float64)


def _contrast(crop: UInt8Array, inside: BoolArray) -> float:
    """Return Hellinger's distance between the colours of an (H, W) bool mask and of a ring around it."""
    kernel = np.ones((2 * _RING_PX + 1,) * 2, np.uint8)
    ring = (cv2.dilate(inside.astype(np.uint8), kernel) > 0) & ~inside
    first, second = (_histogram(crop, region) for region in (inside, ring))
    return float(np.sqrt(max(1.0 - np.sqrt(first * second).sum(), 0.0)))


def _histogram(crop: UInt8Array, region: BoolArray) -> FloatArray:
    """Return the smoothed (8, 8, 8) RGB histogram of an (H, W) bool region; its sum is 1."""
    counts = cv2.calcHist([crop], [0, 1, 2], region.astype(np.uint8), [_BINS] * 3, [0, 256] * 3)
    for axis in range(3):
        counts = sum(np.roll(counts, k, axis) * (0.5 if k == 0 else 0.25) for k in (-1, 0, 1))
    return np.asarray(counts / max(counts.sum(), 1e-9), dtype=np.float64)
