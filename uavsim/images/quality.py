"""What an image's pixels say of its quality, with no other image to compare with; and against its clean copy.

Everything is counted from histograms of 8-bit images, so that an image costs few milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from uavsim.typing import FloatArray, UInt8Array

__all__ = ["PixelMeasures", "grey", "histogram", "measure_pixels", "psnr_db"]

# Immerkaer, "Fast noise variance estimation", CVIU 64 (1996): this mask answers to neither planes nor straight edges.
_NOISE_MASK: Final = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)
_MEDIAN_OF_NOISE: Final = 6.0 * 0.6745  # of the mask's absolute answer to noise with standard deviation 1
_EDGES: Final = 0.995  # of the pixels answer less than the sharpest edges
_LAPLACIAN_SCALE: Final = 0.25
_LEAST_ANSWER: Final = 3.0  # of the Laplacian, grey levels: below there is no edge to measure
_EDGE_RATIO: Final = float(np.exp(-0.5))  # of a step's largest gradient and Laplacian under a Gaussian of 1 px
_BLACK, _WHITE = 3, 252
_BEST_PSNR_DB: Final = 100.0


@dataclass(frozen=True, slots=True)
class PixelMeasures:
    """Measures of one image, grey levels 0 to 255.

    Attributes:
        luminance: mean.
        contrast: between the darkest and the brightest twentieth.
        clipped_share: pixels that are black or white.
        noise_sigma: standard deviation of the noise where the image is flat.
        blur_px: standard deviation of the blur at the sharpest edges; NaN where there is no edge.
    """

    luminance: float
    contrast: float
    clipped_share: float
    noise_sigma: float
    blur_px: float


def grey(pixels: UInt8Array) -> UInt8Array:
    """Return (H, W) luminance of (H, W, 3) RGB."""
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def measure_pixels(luminance: UInt8Array) -> PixelMeasures:
    """Measure a (H, W) image."""
    counts = histogram(luminance)
    total = counts.sum()
    answer = cv2.convertScaleAbs(cv2.filter2D(luminance, cv2.CV_16S, _NOISE_MASK))
    return PixelMeasures(
        luminance=float(counts @ np.arange(256) / total),
        contrast=_quantile(counts, 0.95) - _quantile(counts, 0.05),
        clipped_share=float((counts[: _BLACK + 1].sum() + counts[_WHITE:].sum()) / total),
        noise_sigma=_quantile(histogram(answer), 0.5) / _MEDIAN_OF_NOISE,
        blur_px=_blur_px(luminance),
    )


def psnr_db(pixels: UInt8Array, clean: UInt8Array) -> float:
    """Return the peak signal-to-noise ratio of an image against its clean copy, at most 100."""
    squared = float(cv2.norm(pixels, clean, cv2.NORM_L2SQR)) / pixels.size
    return min(float(10.0 * np.log10(255.0**2 / squared)), _BEST_PSNR_DB) if squared else _BEST_PSNR_DB


def _blur_px(luminance: UInt8Array) -> float:
    """Return the Gaussian's width that turns a step into what the sharpest edges are: independent of their height."""
    laplacian = cv2.convertScaleAbs(cv2.Laplacian(luminance, cv2.CV_16S, ksize=1), alpha=_LAPLACIAN_SCALE)
    across = cv2.convertScaleAbs(cv2.Sobel(luminance, cv2.CV_16S, 1, 0, ksize=3), alpha=0.125)
    down = cv2.convertScaleAbs(cv2.Sobel(luminance, cv2.CV_16S, 0, 1, ksize=3), alpha=0.125)
    curvature = _quantile(histogram(laplacian), _EDGES) / _LAPLACIAN_SCALE
    slope = _quantile(histogram(cv2.max(across, down)), _EDGES)
    return _EDGE_RATIO * slope / curvature if curvature >= _LEAST_ANSWER else float("nan")


def histogram(image: UInt8Array) -> FloatArray:
    """Count the values of a (H, W) image: (256,)."""
    return np.asarray(cv2.calcHist([image], [0], None, [256], [0, 256]), dtype=np.float64).ravel()


def _quantile(counts: FloatArray, share: float) -> float:
    """Return the value below which a share of the counted values lie; between two levels by straight line."""
    total = np.cumsum(counts)
    wanted = share * total[-1]
    level = int(np.searchsorted(total, wanted))
    before = total[level - 1] if level else 0.0
    inside = (wanted - before) / counts[level] if counts[level] else 0.0
    return max(level - 0.5 + float(inside), 0.0)
