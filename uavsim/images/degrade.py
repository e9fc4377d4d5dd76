"""Degrade images like a worse camera: exposure, blur and sensor noise, in that order, seeded."""

from typing import cast

import cv2
import numpy as np

from uavsim.images.light import GAMMA
from uavsim.typing import UInt8Array


def degrade_image(
    pixels: UInt8Array,
    *,
    rng: np.random.Generator,
    exposure_stops: float = 0.0,
    blur_sigma_px: float = 0.0,
    noise_sigma: float = 0.0,
) -> UInt8Array:
    """Return a degraded (H, W, 3) uint8 copy of an image.

    Args:
        pixels: (H, W, 3) uint8, either channel order.
        rng: generator for this image alone, so that noise is independent between images.
        exposure_stops: +1 doubles the light, -1 halves it.
        blur_sigma_px: standard deviation of a Gaussian blur.
        noise_sigma: standard deviation of the sensor noise, in 8-bit steps.
    """
    out = np.ascontiguousarray(pixels)
    if exposure_stops:
        light = (np.arange(256) / 255.0) ** GAMMA * 2.0**exposure_stops
        table = np.rint(np.clip(light, 0.0, 1.0) ** (1 / GAMMA) * 255.0).astype(np.uint8)
        out = np.take(table, out)
    if blur_sigma_px:
        out = cast(UInt8Array, cv2.GaussianBlur(out, (0, 0), blur_sigma_px))
    if noise_sigma:
        noise = rng.standard_normal(out.shape, dtype=np.float32) * np.float32(noise_sigma)
        out = np.rint(np.clip(out + noise, 0.0, 255.0)).astype(np.uint8)
    return out
