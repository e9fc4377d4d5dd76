"""Image quality from pixels: luminance, contrast, clipping, noise and blur, and PSNR against a clean copy.

All measures come from histograms of 8-bit images, which takes a few milliseconds an image.
"""

from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np

from uavsim.images import codec
from uavsim.images.compiled import kernel
from uavsim.images.png import FILTER_TYPE, filtered_rows
from uavsim.typing import IntArray, UInt8Array

# Immerkaer, "Fast noise variance estimation", CVIU 64 (1996): the mask 1 -2 1, -2 4 -2, 1 -2 1 answers to no plane or line.
_MEDIAN_OF_NOISE: Final = 6.0 * 0.6745  # of the mask's absolute answer to noise with standard deviation 1
_EDGES: Final = 0.995  # of the pixels answer less than the sharpest edges
_SLOPE_STEP: Final = 0.5  # grey levels a pixel, of what the slopes are counted in
_LEAST_ANSWER: Final = 1.5  # grey levels: below there is no edge to measure
_EDGE_RATIO: Final = float(np.exp(-0.5))  # of a step's largest slope and second difference under a Gaussian of 1 px
_BLACK, _WHITE = 3, 252
_BEST_PSNR_DB: Final = 100.0


@dataclass(frozen=True, slots=True)
class PixelMeasures:
    """Measures of one image, grey levels 0 to 255.

    Attributes:
        luminance: mean.
        contrast: difference of the 95th and the 5th percentile.
        clipped_share: share of black and white pixels.
        noise_sigma: standard deviation of the noise in flat areas.
        blur_px: standard deviation of the blur at the sharpest edges; NaN where there is no edge.
    """

    luminance: float
    contrast: float
    clipped_share: float
    noise_sigma: float
    blur_px: float


def grey(pixels: UInt8Array) -> UInt8Array:
    """Return (H, W) luminance of (H, W, 3) RGB, by the weights of ITU-R BT.601."""
    luminance = np.empty(pixels.shape[:2], np.uint8)
    _to_grey(pixels, luminance)
    return luminance


def decode_grey(data: bytes) -> UInt8Array:
    """Decode an image file to its (H, W) luminance; for PNGs of uavsim this is faster than decoding RGB.

    Raises:
        DatasetError: not an image.
    """
    found = filtered_rows(data)
    if found is None or found[1] != 3 or not (found[0][:, 0] == FILTER_TYPE["sub"]).all():
        return grey(codec.decode_rgb(data))
    rows = found[0]
    luminance = np.empty((rows.shape[0], rows.shape[1] // 3), np.uint8)
    _rows_to_grey(rows, luminance)
    return luminance


def measure_pixels(luminance: UInt8Array) -> PixelMeasures:
    """Measure a (H, W) image."""
    counts, noise, curvature, slope = _histograms(luminance)
    total = counts.sum()
    sharpest, steepest = _quantile(curvature, _EDGES), _SLOPE_STEP * _quantile(slope, _EDGES)
    return PixelMeasures(
        luminance=float(counts @ np.arange(256) / total),
        contrast=_quantile(counts, 0.95) - _quantile(counts, 0.05),
        clipped_share=float((counts[: _BLACK + 1].sum() + counts[_WHITE:].sum()) / total),
        noise_sigma=_quantile(noise, 0.5) / _MEDIAN_OF_NOISE,
        blur_px=_EDGE_RATIO * steepest / sharpest if sharpest >= _LEAST_ANSWER else float("nan"),
    )


def psnr_db(pixels: UInt8Array, clean: UInt8Array) -> float:
    """Return the peak signal-to-noise ratio of an (H, W, C) image and its clean copy, dB, at most 100."""
    squared = float(cv2.norm(pixels, clean, cv2.NORM_L2SQR)) / pixels.size
    return min(float(10.0 * np.log10(255.0**2 / squared)), _BEST_PSNR_DB) if squared else _BEST_PSNR_DB


@kernel
def _to_grey(pixels: UInt8Array, luminance: UInt8Array) -> None:
    for line in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            red, green, blue = pixels[line, column, 0], pixels[line, column, 1], pixels[line, column, 2]
            luminance[line, column] = (np.int32(red) * 77 + np.int32(green) * 150 + np.int32(blue) * 29 + 128) >> 8


@kernel
def _rows_to_grey(rows: UInt8Array, luminance: UInt8Array) -> None:
    """Convert PNG rows to luminance and undo the filter ``sub``: each byte is the difference from the pixel on its left.

    A word of 64 bits holds three channels in fields of 16 bits, so that one addition updates all of them. Multiplied with the
    weights in reverse order, its third field is the weighted sum, which is below 65,536.
    """
    bytes_of_fields, weights = np.uint64(0x00FF_00FF_00FF), np.uint64(29 + (150 << 16) + (77 << 32))
    for line in range(luminance.shape[0]):
        row, out = rows[line], luminance[line]
        pixel = np.uint64(0)
        for column in range(out.shape[0]):
            byte = 1 + 3 * column
            change = (
                np.uint64(row[byte])
                | (np.uint64(row[byte + 1]) << np.uint64(16))
                | (np.uint64(row[byte + 2]) << np.uint64(32))
            )
            pixel = (pixel + change) & bytes_of_fields
            weighted = ((pixel * weights) >> np.uint64(32)) & np.uint64(0xFFFF)
            out[column] = (weighted + np.uint64(128)) >> np.uint64(8)


@kernel
def _histograms(image: UInt8Array) -> IntArray:
    """Return (4, 256) histograms of every fourth line: grey levels, noise mask responses, second differences, slopes.

    Measuring and counting are separate loops because only the first one can be vectorised.
    """
    counts = np.zeros((4, 256), np.int64)
    noise, curvature = np.empty(image.shape[1], np.uint8), np.empty(image.shape[1], np.uint8)
    slope = np.empty(image.shape[1], np.uint8)
    for line in range(1, image.shape[0] - 1, 4):
        above, here, below = image[line - 1], image[line], image[line + 1]
        for x in range(1, image.shape[1] - 1):
            nw, n, ne = np.int32(above[x - 1]), np.int32(above[x]), np.int32(above[x + 1])
            w, c, e = np.int32(here[x - 1]), np.int32(here[x]), np.int32(here[x + 1])
            sw, s, se = np.int32(below[x - 1]), np.int32(below[x]), np.int32(below[x + 1])
            noisy: Any = abs(nw + ne + sw + se - 2 * (n + s + w + e) + 4 * c)
            curved: Any = max(abs(w + e - 2 * c), abs(n + s - 2 * c))
            across: Any = abs(ne + 2 * e + se - nw - 2 * w - sw) >> 2
            down: Any = abs(sw + 2 * s + se - nw - 2 * n - ne) >> 2
            noise[x], curvature[x], slope[x] = min(noisy, 255), min(curved, 255), min(max(across, down), 255)
        for x in range(1, image.shape[1] - 1):
            counts[0, here[x]] += 1
            counts[1, noise[x]] += 1
            counts[2, curvature[x]] += 1
            counts[3, slope[x]] += 1
    return counts


@kernel
def _quantile(counts: IntArray, share: float) -> float:
    """Return a quantile of counted values, linearly interpolated between levels."""
    target = share * counts.sum()
    level, before = 0, 0
    while before + counts[level] < target:
        before += counts[level]
        level += 1
    inside = (target - before) / counts[level] if counts[level] else 0.0
    return max(level - 0.5 + inside, 0.0)
