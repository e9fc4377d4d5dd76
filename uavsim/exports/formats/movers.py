"""The images of a scene at all times, and where they show what moves: what reconstructions of still scenes leave out."""

from typing import Final

import numpy as np

from uavsim.access import Image, Scene
from uavsim.exports.formats.text import write_bytes
from uavsim.files.results import ResultPath
from uavsim.images import codec
from uavsim.typing import BoolArray, IntArray

_STILL_M: Final = 0.2


def all_images(scene: Scene) -> list[Image]:
    """Return the images of all cameras, those between keyframes too, by time and then as the first sample has them."""
    ways = [scene.images_of(image.channel) for image in scene.samples[0].images]
    return sorted((image for way in ways for image in way), key=lambda image: image.timestamp_us)


def still_ids(scene: Scene) -> IntArray:
    """Return the instance ids of what stands still over the whole scene."""
    still = [
        track.instance_id for track in scene.tracks if np.ptp(track.map_SE3_box.translation_m, axis=0).max() < _STILL_M
    ]
    return np.array(still, dtype=np.int64)


def moving_pixels(image: Image, still: IntArray) -> BoolArray | None:
    """Return (H, W) where something is that moves; None where the dataset has no masks."""
    if "instance" not in image.layers:
        return None
    ids, _ = image.mask()
    return (ids > 0) & ~np.isin(ids, still)


def write_mask(path: ResultPath, moving: BoolArray) -> None:
    """Write a mask as trainers read it: black where something moves."""
    write_bytes(path, codec.encode_png(np.where(moving, 0, 255).astype(np.uint8)))
