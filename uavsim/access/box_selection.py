"""Selection of the boxes in an image."""

from typing import Final

import numpy as np

from uavsim.access.boxes import Boxes
from uavsim.access.images import Image
from uavsim.geometry import cuboid
from uavsim.typing import IntArray

_LEAST_PX: Final = 12  # minimum object size in the mask; a drawn box would cover smaller objects


def visible_boxes(boxes: Boxes, image: Image) -> IntArray:
    """Return (K,) indices of the boxes with pixels in the image and in front of its camera.

    If the dataset does not have the pixels of boxes in images, the devkit's rule decides: visible boxes that extend into the
    image.
    """
    corners_map_m = boxes.corners_map_m
    pixels = image.project(corners_map_m, beyond=True)
    if any(boxes.views):
        has_pixels = [
            any(view["sample_data_token"] == image.token and view["visible_px"] > 0 for view in views)
            for views in boxes.views
        ]
        return np.flatnonzero(np.array(has_pixels) & np.isfinite(pixels).all(axis=(1, 2)))
    width, height = image.size_px
    optical_m = image.map_SE3_optical.apply_inverse(corners_map_m)
    in_image = cuboid.boxes_in_image(optical_m, pixels, width_px=width, height_px=height)
    return np.flatnonzero(in_image & boxes.visible)


def boxes_in_mask(boxes: Boxes, image: Image) -> IntArray:
    """Return (K,) indices of the boxes with pixels in the image's mask; without a mask, those of ``visible_boxes``."""
    if "instance" not in image.layers:
        return visible_boxes(boxes, image)
    ids, _ = image.mask()
    counts = np.bincount(ids.ravel(), minlength=int(boxes.instance_id.max(initial=0)) + 1)
    pixels = image.project(boxes.corners_map_m, beyond=True)
    in_front = np.isfinite(pixels).all(axis=(1, 2))
    return np.flatnonzero((counts[boxes.instance_id] >= _LEAST_PX) & in_front & (boxes.instance_id > 0))
