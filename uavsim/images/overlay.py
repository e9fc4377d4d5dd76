"""Images for viewers: thumbnails, coloured masks, and outlines of areas."""

from typing import Final

import cv2
import numpy as np

from uavsim.errors import InputError
from uavsim.images import codec, draw
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

_COLOURS: Final = 251  # a prime: neighbouring instance ids differ


def object_colours(ids: IntArray) -> list[draw.Colour]:
    """Return the colour of each of (N,) instance ids in coloured masks."""
    palette = draw.palette(_COLOURS)
    return [palette[n] for n in (ids % _COLOURS).tolist()]


def painted_mask(ids: UInt16Array, *, ground: draw.Colour) -> UInt8Array:
    """Colour (H, W) instance ids as (H, W, 3) uint8 RGB: a colour for each object, ``ground`` elsewhere."""
    colours = np.array([ground, *draw.palette(_COLOURS)], dtype=np.uint8)
    painted: UInt8Array = colours[np.where(ids > 0, ids % _COLOURS + 1, 0)]
    return painted


def small_jpeg(pixels: UInt8Array, *, width_px: int, quality: int) -> bytes:
    """Encode (H, W, 3) RGB as JPEG, at most ``width_px`` wide."""
    height, width = pixels.shape[:2]
    if width > width_px:
        pixels = draw.resized(pixels, width_px=width_px, height_px=max(round(height * width_px / width), 1))
    return codec.encode_jpeg(pixels, quality=quality)


def coloured_mask(ids: UInt16Array, *, width_px: int) -> bytes:
    """Encode (H, W) instance ids as PNG, at most ``width_px`` wide: a colour for each object, transparent elsewhere."""
    height, width = ids.shape
    if width > width_px:
        size = (width_px, max(round(height * width_px / width), 1))
        ids = np.asarray(cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST), dtype=np.uint16)
    rgb = np.array(draw.palette(_COLOURS), dtype=np.uint8)
    bgra = np.zeros((_COLOURS + 1, 4), dtype=np.uint8)
    bgra[1:] = np.column_stack([rgb[:, ::-1], np.full(_COLOURS, 255, np.uint8)])
    done, data = cv2.imencode(".png", bgra[np.where(ids > 0, ids % _COLOURS + 1, 0)], [cv2.IMWRITE_PNG_COMPRESSION, 6])
    if not done:
        raise InputError(f"cannot encode a mask of {ids.shape}")
    return data.tobytes()


def outlines(area: BoolArray, *, within_px: float = 1.0) -> list[FloatArray]:
    """Return closed (N, 2) outlines, x, y pixels, of (H, W) bool areas and their holes, simplified to ``within_px``."""
    found, _ = cv2.findContours(area.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    straight = [cv2.approxPolyDP(line, within_px, True)[:, 0].astype(np.float64) for line in found]
    return [np.concatenate([line, line[:1]]) + 0.5 for line in straight if len(line) > 2]
