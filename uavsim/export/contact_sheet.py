"""One sample on one page: every camera of every drone with the boxes drawn, as the tables on disk say them.

Read back from the written tables, so that what people look at is what users of the dataset get.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from uavsim.access import Image, Sample, Scene, open_folder
from uavsim.access.shown import boxes_shown
from uavsim.dataset.schema import INSTANCE
from uavsim.errors import DatasetError
from uavsim.files.parse import reading
from uavsim.files.whole import write_whole
from uavsim.geometry import pinhole
from uavsim.images import codec, draw
from uavsim.typing import UInt8Array

__all__ = ["draw_contact_sheet", "write_contact_sheet"]

_TILE_WIDTH_PX = 480


def write_contact_sheet(
    root: Path, path: Path, *, version: str, scene: str | None = None, sample: int | None = None
) -> Path:
    """Write the page as PNG.

    Args:
        root: the dataset's folder.
        path: of the PNG.
        version: ``v1.0-mini``.
        scene: its name; the first one by default.
        sample: keyframe number; the middle one by default.

    Raises:
        UnknownNameError: no such scene.
        DatasetError: no such sample, or images are missing.
        StorageError: the page cannot be written.
    """
    data = open_folder(root, version)
    with reading(root):
        page = draw_contact_sheet(data.scene(scene or data.scene_names[0]), sample=sample)
    return write_whole(path, codec.encode_png(page, level=2))


def draw_contact_sheet(scene: Scene, *, sample: int | None = None) -> UInt8Array:
    """Return the page: a row per drone, a column per camera; where agents have different rigs, as wide as the largest."""
    number = len(scene) // 2 if sample is None else sample
    if not 0 <= number < len(scene):
        raise DatasetError(f"scene {scene.name} has samples 0-{len(scene) - 1}, no {number}")
    chosen = scene.samples[number]
    if not chosen.images:
        raise DatasetError(f"scene {scene.name}: sample {number} has no images")
    instances = [row["token"] for row in scene.rows(INSTANCE)]
    colours = dict(zip(instances, draw.palette(len(instances)), strict=True))
    tiles = [_with_boxes(chosen, image, colours) for image in chosen.images]
    columns = max(Counter(image.drone_id for image in chosen.images).values())
    captions = [image.channel for image in chosen.images]
    return draw.contact_sheet(tiles, columns=columns, tile_width_px=_TILE_WIDTH_PX, captions=captions)


def _with_boxes(sample: Sample, image: Image, colours: dict[str, draw.Colour]) -> UInt8Array:
    """Return the image with the boxes that it shows; an object has one colour in every image."""
    canvas, boxes = np.ascontiguousarray(image.pixels()), sample.boxes
    height_px, width_px = canvas.shape[:2]
    shown = boxes_shown(boxes, image)
    pixels = image.project(boxes.corners_map_m[shown])
    inside = np.atleast_1d(pinhole.pixel_in_image(pixels, width_px=width_px, height_px=height_px).any(axis=-1))
    own = [colours[boxes.instance_tokens[n]] for n in shown[inside].tolist()]
    draw.draw_boxes_3d(canvas, pixels[inside], colours=own, width_px=max(round(width_px / 400), 1))
    return canvas
