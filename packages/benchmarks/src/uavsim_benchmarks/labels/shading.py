"""Share of shaded ground around objects, by its brightness relative to sunlit ground of the same kind."""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
from typing import Final

import numpy as np
import numpy.typing as npt

from uavsim.images.compiled import kernel
from uavsim.typing import FloatArray, IntArray, UInt8Array, UInt16Array

_SUNLIT: Final = 0.8  # quantile of a kind of ground that represents sunlit ground
_LEAST_GROUND_PX: Final = 200  # of a kind of ground in the image, at every eighth pixel
_LEAST_AROUND_PX: Final = 24
_GROWN: Final = 0.4  # of a box's size, around it
_FINE_PX: Final = 24  # narrower boxes are measured at every pixel
_GROUND_TAGS: Final = (1, 2, 10, 24, 25)  # road, sidewalk, terrain, road line, ground
_KIND_OF_GROUND: Final = np.full(256, -1, np.int64)  # of every tag: its place among them
_KIND_OF_GROUND[list(_GROUND_TAGS)] = range(len(_GROUND_TAGS))


def shaded_shares(
    luminance: UInt8Array, ids: UInt16Array, tags: UInt8Array, *, boxes_px: IntArray, shade: float
) -> FloatArray:
    """Return (N,) shares of the ground around each box that lies in shadow; NaN where too little ground is visible.

    Ground is in shadow if it is darker than ``shade`` times the bright part of the same kind of ground in the image.
    Shadow that covers the whole image is therefore not found.

    Args:
        luminance: (H, W).
        ids: (H, W) of the mask.
        tags: (H, W) of the mask.
        boxes_px: (N, 4) x_min, y_min, x_max, y_max inside of the image.
        shade: 0 to 1.
    """
    total = np.cumsum(_ground_histograms(luminance, ids, tags, _KIND_OF_GROUND), axis=1)
    brightest = (total >= _SUNLIT * total[:, -1:]).argmax(axis=1).astype(np.float64)
    sunlit = np.zeros(256)
    sunlit[list(_GROUND_TAGS)] = np.where(total[:, -1] < _LEAST_GROUND_PX, 0.0, brightest)
    found = _around(luminance, ids, tags, boxes_px.astype(np.int64), sunlit, shade)
    enough = found[:, 0] >= _LEAST_AROUND_PX
    return np.where(enough, found[:, 1] / np.maximum(found[:, 0], 1), np.nan)


@kernel
def _ground_histograms(luminance: UInt8Array, ids: UInt16Array, tags: UInt8Array, kind_of_tag: IntArray) -> IntArray:
    """Return (kinds, 256) histograms of grey levels for each kind of ground."""
    counts = np.zeros((kind_of_tag.max() + 1, 256), np.int64)
    for line in range(0, luminance.shape[0], 4):
        for column in range(0, luminance.shape[1], 2):
            kind = kind_of_tag[tags[line, column]]
            if kind >= 0 and ids[line, column] == 0:
                counts[kind, luminance[line, column]] += 1
    return counts


@kernel
def _around(
    luminance: UInt8Array,
    ids: UInt16Array,
    tags: UInt8Array,
    boxes_px: IntArray,
    sunlit: npt.NDArray[np.float64],
    shade: float,
) -> IntArray:
    """Return (N, 2) counts of ground pixels around each box, and of those in shadow."""
    found = np.zeros((len(boxes_px), 2), np.int64)
    for row in range(len(boxes_px)):
        x0, y0, x1, y1 = boxes_px[row]
        wide, high = int(_GROWN * (x1 - x0)) + 3, int(_GROWN * (y1 - y0)) + 3
        every = max((x1 - x0) // _FINE_PX, 1)  # for large boxes a sample of pixels is enough
        ground, dark = 0, 0
        for line in range(max(y0 - high, 0), min(y1 + high, luminance.shape[0]), every):
            for column in range(max(x0 - wide, 0), min(x1 + wide, luminance.shape[1]), every):
                bright = sunlit[tags[line, column]]
                if bright > 0.0 and ids[line, column] == 0:
                    ground += 1
                    dark += luminance[line, column] < shade * bright
        found[row, 0], found[row, 1] = ground, dark
    return found
