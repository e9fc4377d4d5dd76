"""Images and masks for reconstructions of static scenes."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from uavsim.access import Image, Scene
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.images import codec
from uavsim.typing import BoolArray, IntArray

_STILL_M: Final = 0.2
_MOST_DEPTH_POINTS: Final = 200_000  # per scene


def all_images(scene: Scene) -> list[Image]:
    """Return keyframes and sweeps of all cameras, by time and then in the order of the first sample."""
    by_camera = [scene.images_of(image.channel) for image in scene.samples[0].images]
    return sorted((image for images in by_camera for image in images), key=lambda image: image.timestamp_us)


def depth_step_px(images: Iterable[Image]) -> int:
    """Return the pixel stride that samples all depth images of a scene to about 200,000 points."""
    pixels = sum(image.size_px[0] * image.size_px[1] for image in images if "depth" in image.layers)
    return max(int(np.ceil(np.sqrt(pixels / _MOST_DEPTH_POINTS))), 1)


def still_ids(scene: Scene) -> IntArray:
    """Return (N,) instance ids of objects that do not move in the scene."""
    still = [
        track.instance_id for track in scene.tracks if np.ptp(track.map_SE3_box.translation_m, axis=0).max() < _STILL_M
    ]
    return np.array(still, dtype=np.int64)


def moving_pixels(image: Image, still: IntArray) -> BoolArray | None:
    """Return (H, W) bool, True on moving objects; None without an instance mask."""
    if "instance" not in image.layers:
        return None
    ids, _ = image.mask()
    return (ids > 0) & ~np.isin(ids, still)


def write_mask(path: ResultPath, moving: BoolArray) -> None:
    """Write an (H, W) bool mask as PNG for trainers: 0 on moving objects, 255 elsewhere."""
    write_whole(path, codec.encode_png(np.where(moving, 0, 255).astype(np.uint8)))
