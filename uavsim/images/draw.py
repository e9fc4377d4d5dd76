"""Draw on RGB images for viewers: contact sheets, boxes over images, maps. Labels never depend on drawings.

Drawing functions change ``canvas`` in place; it must be a C-contiguous (H, W, 3) uint8 array. Points are (x, y) in pixels,
fractions allowed (drawn with 1/16 pixel precision); points far outside the canvas are fine.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

import cv2
import numpy as np
import numpy.typing as npt

from uavsim.errors import InputError
from uavsim.typing import BoolArray, UInt8Array

Colour: TypeAlias = tuple[int, int, int]
Points: TypeAlias = npt.NDArray[np.floating[Any]] | npt.NDArray[np.integer[Any]]

_SHIFT: Final = 4
_SCALE: Final = 1 << _SHIFT
_GROUND: Final = (24, 24, 24)
_LIMIT: Final = 1 << 24  # far outside any canvas, well inside int32 with the fraction bits

BOX_EDGES: Final = np.array(
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
)
"""(12, 2) corner pairs for corners in the devkit's order: four of the front face around, then the four behind them."""


def draw_polyline(
    canvas: UInt8Array, points_px: Points, *, colour: Colour, width_px: int = 1, closed: bool = False
) -> None:
    """Draw a line through (N, 2) points."""
    cv2.polylines(canvas, [_fixed(points_px)], closed, colour, width_px, cv2.LINE_AA, _SHIFT)


def draw_segments(canvas: UInt8Array, segments_px: Points, *, colour: Colour, width_px: int = 1) -> None:
    """Draw (N, 2, 2) separate segments; those with a value that is not finite are left out."""
    segments = np.asarray(segments_px, dtype=np.float64)
    finite = segments[np.isfinite(segments).all(axis=(1, 2))]
    if len(finite):
        cv2.polylines(canvas, list(_fixed(finite)), False, colour, width_px, cv2.LINE_AA, _SHIFT)


def draw_polygons(canvas: UInt8Array, polygons_px: Sequence[Points], *, colour: Colour) -> None:
    """Fill every simple polygon separately: overlaps stay filled. ``canvas`` may also be (H, W)."""
    for polygon in polygons_px:
        cv2.fillPoly(canvas, [_fixed(polygon)], colour, cv2.LINE_8, _SHIFT)


def draw_even_odd(canvas: UInt8Array, rings_px: Sequence[Points], *, colour: Colour) -> None:
    """Fill one polygon of several rings; points inside an even number of rings stay. ``canvas`` may also be (H, W)."""
    cv2.fillPoly(canvas, [_fixed(ring) for ring in rings_px], colour, cv2.LINE_8, _SHIFT)


def draw_boxes_3d(canvas: UInt8Array, corners_px: Points, *, colours: Sequence[Colour], width_px: int = 1) -> None:
    """Draw projected boxes: (N, 8, 2) corners, NaN behind the camera; edges with a NaN corner are left out."""
    for corners, colour in zip(np.asarray(corners_px, dtype=np.float64), colours, strict=True):
        draw_segments(canvas, corners[BOX_EDGES], colour=colour, width_px=width_px)


def draw_circles(canvas: UInt8Array, centres_px: Points, *, radius_px: float, colour: Colour) -> None:
    """Draw a disc around each of (N, 2) centres."""
    for x, y in _fixed(centres_px).tolist():
        cv2.circle(canvas, (x, y), round(radius_px * _SCALE), colour, cv2.FILLED, cv2.LINE_AA, _SHIFT)


def draw_text(
    canvas: UInt8Array,
    text: str,
    at_px: tuple[int, int],
    *,
    colour: Colour = (255, 255, 255),
    height_px: int = 12,
    background: Colour | None = None,
) -> None:
    """Write ASCII text on an (H, W, 3) canvas with its lower left corner at ``at_px``."""
    scale = height_px / 22.0  # cv2's plain face is about 22 px high at scale 1
    (width, height), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 1)
    x, y = at_px
    if background is not None:
        cv2.rectangle(canvas, (x - 2, y - height - 2), (x + width + 2, y + below), background, cv2.FILLED)
    cv2.putText(canvas, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, colour, 1, cv2.LINE_AA)


def resized(pixels: UInt8Array, *, width_px: int, height_px: int) -> UInt8Array:
    """Return an (H, W, 3) uint8 image of another size (area average when it shrinks)."""
    shrinks = width_px < pixels.shape[1]
    return cast(
        UInt8Array,
        cv2.resize(pixels, (width_px, height_px), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR),
    )


def tinted(pixels: UInt8Array, where: BoolArray, *, colour: Colour, strength: float = 0.5) -> UInt8Array:
    """Return a copy of an (H, W, 3) uint8 image with ``colour`` blended over the pixels ``where``, (H, W) bool."""
    mixed = pixels.copy()
    mixed[where] = np.rint(pixels[where] * (1.0 - strength) + np.array(colour) * strength).astype(np.uint8)
    return mixed


def palette(count: int) -> list[Colour]:
    """Return ``count`` distinct bright colours, always the same."""
    golden = 0.61803398875
    hue = np.round(np.mod(np.arange(count) * golden, 1.0) * 179).astype(np.uint8)
    hsv = np.stack([hue, np.full(count, 200, np.uint8), np.full(count, 255, np.uint8)], axis=-1)[None]
    rgb = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)[0] if count else np.zeros((0, 3), np.uint8)
    return [(int(r), int(g), int(b)) for r, g, b in rgb]


def contact_sheet(
    images: Sequence[UInt8Array],
    *,
    columns: int,
    tile_width_px: int,
    captions: Sequence[str] = (),
    gap_px: int = 4,
) -> UInt8Array:
    """Lay (H, W, 3) uint8 images out in a grid, row by row; each is scaled to ``tile_width_px`` by the first image's shape.

    Raises:
        InputError: there are no images, or not one caption for each.
    """
    if not images or (captions and len(captions) != len(images)):
        raise InputError(f"a contact sheet needs images and one caption each, got {len(images)} and {len(captions)}")
    tile_height_px = round(tile_width_px * images[0].shape[0] / images[0].shape[1])
    rows = -(-len(images) // columns)
    sheet = np.empty(
        (rows * (tile_height_px + gap_px) + gap_px, columns * (tile_width_px + gap_px) + gap_px, 3), np.uint8
    )
    sheet[:] = _GROUND
    for i, image in enumerate(images):
        tile = np.ascontiguousarray(resized(image, width_px=tile_width_px, height_px=tile_height_px))
        if captions:
            draw_text(tile, captions[i], (4, 14), height_px=10, background=(0, 0, 0))
        y = gap_px + (i // columns) * (tile_height_px + gap_px)
        x = gap_px + (i % columns) * (tile_width_px + gap_px)
        sheet[y : y + tile_height_px, x : x + tile_width_px] = tile
    return sheet


def _fixed(points_px: Points) -> npt.NDArray[np.int32]:
    """Convert pixels to cv2's fixed-point integers, clipped to int32."""
    scaled = np.rint(np.asarray(points_px, dtype=np.float64) * _SCALE)
    return np.clip(scaled, -_LIMIT, _LIMIT).astype(np.int32)
