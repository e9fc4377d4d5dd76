"""Agreement of an image with an object's mask, after somebody painted the image anew.

Two measures, of an image and a mask. *Edges*: how strongly the image changes across the mask's outline, by a structure tensor
of saturated strength, for every shift of the outline by up to 8 pixels. *Mask*: how far the colours inside lie from those of a
ring outside (Hellinger's distance of histograms). What they are in the image as it was before is what the new one is held to.
"""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from uavsim.typing import BoolArray, FloatArray, UInt8Array

_REACH_PX: Final = 8
_RING_PX: Final = 6
_NEAR_PX: Final = 2.0
_STRONG: Final = 12.0  # grey levels a pixel: an edge
_BINS: Final = 8
_CLEAR: Final = 0.15
_THERE: Final = 0.6
_CLEARLY: Final = 1.5
_LEFT: Final = 0.3


@dataclass(frozen=True, slots=True)
class Agreement:
    """An object in an image.

    Attributes:
        edge: strength of the image's edges along the outline, 0 to 1, above that of other shifts.
        best: the same of the best shift.
        shift_px: x, y of the best shift.
        mask: Hellinger's distance between the colours inside and outside, 0 to 1.
        best_mask: the same of the mask at the best shift.
    """

    edge: float
    best: float
    shift_px: tuple[int, int]
    mask: float
    best_mask: float


def agreement(pixels: UInt8Array, mask: BoolArray) -> Agreement:
    """Measure an object of (H, W) ``mask`` in (H, W, 3) RGB."""
    margin = _REACH_PX + 4
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    height, width = mask.shape
    top, bottom = max(rows[0] - margin, 0), min(rows[-1] + margin + 1, height)
    left, right = max(columns[0] - margin, 0), min(columns[-1] + margin + 1, width)
    crop, inside = pixels[top:bottom, left:right], mask[top:bottom, left:right]
    support = _support(crop, inside)
    away = np.hypot(*(np.indices(support.shape) - _REACH_PX))
    ground = float(np.median(support[away > _NEAR_PX]))
    at = np.unravel_index(
        int(np.argmax(np.where(away <= _NEAR_PX, support + 1e-6 * (9 - away), support))), support.shape
    )
    dx, dy = int(at[1]) - _REACH_PX, int(at[0]) - _REACH_PX
    return Agreement(
        edge=float(support[away <= _NEAR_PX].max()) - ground,
        best=float(support[at]) - ground,
        shift_px=(dx, dy),
        mask=_apart(crop, inside),
        best_mask=_apart(crop, np.roll(inside, (dy, dx), axis=(0, 1))),
    )


def label_state(before: Agreement, now: Agreement) -> str:
    """Return kept, moved, gone, or unclear where the object did not stand out of the image as it was before."""
    if before.edge < _CLEAR or before.mask < _CLEAR or max(np.abs(before.shift_px)) > _NEAR_PX:
        return "unclear"
    share, elsewhere = now.edge / before.edge, now.best / before.edge
    is_there = elsewhere > _THERE and now.best_mask > _THERE * before.mask
    if _NEAR_PX < max(np.abs(now.shift_px)) < _REACH_PX and is_there and now.best > _CLEARLY * now.edge:
        return "moved"
    return "kept" if share > _LEFT and now.mask > _LEFT * before.mask else "gone"


def _support(crop: UInt8Array, inside: BoolArray) -> FloatArray:
    """Return (17, 17) mean strength of edges across the outline, shifted by -8 to 8 lines and columns."""
    smooth = cv2.GaussianBlur(crop, (0, 0), 0.8).astype(np.float32)
    dx, dy = (cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3) / 8 for order in ((1, 0), (0, 1)))
    tensor = np.stack([(dx * dx).sum(axis=2), 2 * (dx * dy).sum(axis=2), (dy * dy).sum(axis=2)], axis=2)
    tensor /= (tensor[..., 0] + tensor[..., 2] + _STRONG**2)[..., None]
    soft = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 1.0)
    nx, ny = (cv2.Sobel(soft, cv2.CV_32F, *order, ksize=3) / 8 for order in ((1, 0), (0, 1)))
    outline = np.stack([nx * nx, nx * ny, ny * ny], axis=2)
    weight = float((nx * nx + ny * ny).sum())
    padded = np.pad(tensor, ((_REACH_PX, _REACH_PX), (_REACH_PX, _REACH_PX), (0, 0)))
    return np.asarray(cv2.matchTemplate(padded, outline, cv2.TM_CCORR) / max(weight, 1e-9), dtype=np.float64)


def _apart(crop: UInt8Array, inside: BoolArray) -> float:
    kernel = np.ones((2 * _RING_PX + 1,) * 2, np.uint8)
    ring = (cv2.dilate(inside.astype(np.uint8), kernel) > 0) & ~inside
    both = [_histogram(crop, where) for where in (inside, ring)]
    return float(np.sqrt(max(1.0 - np.sqrt(both[0] * both[1]).sum(), 0.0)))


def _histogram(crop: UInt8Array, where: BoolArray) -> FloatArray:
    found = cv2.calcHist([crop], [0, 1, 2], where.astype(np.uint8), [_BINS] * 3, [0, 256] * 3)
    for axis in range(3):
        found = sum(np.roll(found, k, axis) * (0.5 if k == 0 else 0.25) for k in (-1, 0, 1))
    return np.asarray(found / max(found.sum(), 1e-9), dtype=np.float64)
