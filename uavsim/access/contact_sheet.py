"""The contact sheet of one sample: one large image beside its mask, and all camera images, with boxes.

It uses the tables on disk, like any user of the dataset.
"""

from collections import Counter
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Image, Sample, Scene, open_folder
from uavsim.access.box_selection import visible_boxes
from uavsim.access.boxes import mask_ids
from uavsim.errors import DatasetError
from uavsim.files.parse import reading
from uavsim.files.whole import write_whole
from uavsim.geometry import pinhole
from uavsim.images import codec, draw, overlay
from uavsim.typing import UInt8Array

_TILE_WIDTH_PX: Final = 480
_GAP_PX: Final = 4
_COLUMNS: Final = 5
_GROUND: Final = (24, 24, 24)


def write_contact_sheet(root: Path, path: Path, *, version: str) -> Path:
    """Write the contact sheet of the middle sample of the first scene as PNG.

    Args:
        root: the dataset's folder.
        path: path of the PNG.
        version: ``v1.0-mini``.

    Raises:
        DatasetError: images are missing.
        StorageError: the file cannot be written.
    """
    data = open_folder(root, version)
    with reading(root):
        page = draw_contact_sheet(data.scene(data.scene_names[0]))
    return write_whole(path, codec.encode_png(page, level=2))


def draw_contact_sheet(scene: Scene, *, sample: int | None = None) -> UInt8Array:
    """Return (H, W, 3) uint8 RGB: the richest image beside its mask; below, all images by drone and camera."""
    number = len(scene) // 2 if sample is None else sample
    if not 0 <= number < len(scene):
        raise DatasetError(f"scene {scene.name} has no sample {number}; choose 0-{len(scene) - 1}")
    chosen = scene.samples[number]
    if not chosen.images:
        raise DatasetError(f"scene {scene.name}: sample {number} has no images")
    tiles = [with_boxes(chosen, image) for image in chosen.images]
    cameras = max(Counter(image.drone_id for image in chosen.images).values())
    columns = column_count(cameras, len(tiles))
    captions = [image.channel for image in chosen.images]
    page = draw.contact_sheet(tiles, columns=columns, tile_width_px=_TILE_WIDTH_PX, captions=captions)
    wide_px = (page.shape[1] - 3 * _GAP_PX) // 2
    image = richest_image(chosen)
    large, names = [tiles[chosen.images.index(image)]], [image.channel]
    if "instance" in image.layers:
        large.append(overlay.painted_mask(image.mask()[0], ground=_GROUND))
        names.append(f"{image.channel}: instance mask")
    top = draw.contact_sheet(large, columns=2, tile_width_px=wide_px, captions=names, gap_px=_GAP_PX)
    beside = np.full((top.shape[0], page.shape[1] - top.shape[1], 3), _GROUND, dtype=np.uint8)
    return np.concatenate([np.concatenate([top, beside], axis=1), page])


def column_count(cameras: int, images: int) -> int:
    """Return the columns of a sheet: whole drones side by side, five columns or fewer unless a drone has more cameras."""
    return min(cameras * max(_COLUMNS // cameras, 1), images)


def richest_image(sample: Sample) -> Image:
    """Return the existing image of a sample with the most boxes; the first of several.

    Raises:
        DatasetError: no image exists.
    """
    existing = [image for image in sample.images if image.exists]
    if not existing:
        raise DatasetError(f"{sample.scene_name}: sample {sample.number} has no images")
    return max(existing, key=lambda image: len(visible_boxes(sample.boxes, image)))


def with_boxes(sample: Sample, image: Image) -> UInt8Array:
    """Return (H, W, 3) uint8 RGB of an image with its boxes; an object has one colour in all images and masks.

    Raises:
        DatasetError: the image is missing or damaged.
    """
    canvas, boxes = np.ascontiguousarray(image.pixels()), sample.boxes
    height_px, width_px = canvas.shape[:2]
    visible = visible_boxes(boxes, image)
    pixels = image.project(boxes.corners_map_m[visible], beyond=True)
    inside = np.atleast_1d(pinhole.pixel_in_image(pixels, width_px=width_px, height_px=height_px).any(axis=-1))
    colours = overlay.object_colours(mask_ids(boxes)[visible[inside]])
    draw.draw_boxes_3d(canvas, pixels[inside], colours=colours, width_px=max(round(width_px / 400), 1))
    return canvas
