"""Snow and leaves over AirSim's images: weather that CARLA's 14 parameters cannot express."""

from typing import Final

import numpy as np

from headless_simulator.scene import TAG, RenderedImage, UInt8

ROADS: Final = (TAG["road"], TAG["road_line"], TAG["sidewalk"], TAG["ground"])
OPEN: Final = (*ROADS, TAG["terrain"], TAG["vegetation"], TAG["other"])
SNOW_BGR: Final = np.array([250, 246, 242], dtype=np.float32)
LEAF_BGR: Final = np.array([32, 84, 168], dtype=np.float32)


def overlay(bgr: UInt8, image: RenderedImage, strength: dict[str, float]) -> UInt8:
    """Draw snow and leaves over an image; returns (H, W, 3) uint8 BGR.

    Args:
        bgr: (H, W, 3) uint8.
        image: the raster pass behind it, for the surfaces.
        strength: 0 to 1 of ``snow`` (in the air), ``road_snow``, ``leaf`` (in the air), ``road_leaf``.
    """
    out = bgr.astype(np.float32)
    height, width = image.tag.shape
    noise = np.random.default_rng(np.random.SeedSequence([width, height])).random((height, width), dtype=np.float32)
    for name, tags, colour in (("road_snow", OPEN, SNOW_BGR), ("road_leaf", ROADS, LEAF_BGR)):
        amount = strength.get(name, 0.0)
        if amount > 0:
            cover = np.isin(image.tag, tags) * np.clip(amount * 1.5 - noise * 0.5, 0, 1).astype(np.float32)
            out += (colour - out) * (cover * (0.85 if name == "road_snow" else noise * 0.7))[:, :, None]
    for name, colour in (("snow", SNOW_BGR), ("leaf", LEAF_BGR)):
        amount = strength.get(name, 0.0)
        if amount > 0:
            out[noise > 1 - 0.03 * amount] = colour
    return np.clip(np.rint(out), 0, 255).astype(np.uint8)
