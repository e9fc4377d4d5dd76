"""Rendering options, and flat images for load tests, which encode camera and frame in their pixels.

The upper left corner of an RGB image holds 48 blocks of 8 x 8 pixels, white for 1 and black for 0: first the camera in 16
bits (CARLA: its actor id; AirSim: ``camera_number``), then the frame in 32 bits, highest bit first. Blocks run from left
to right and on in the next row of blocks where the image is narrower than 384 pixels. The rest is grey. They survive
JPEG. Masks show the sky everywhere, depth is 1,000 m everywhere.
"""

import threading
import time
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from headless_simulator.scene import TAG, RenderedImage, UInt8

BLOCK_PX: Final = 8
CAMERA_BITS: Final = 16
FRAME_BITS: Final = 32
_GREY: Final = 96


@dataclass(frozen=True, slots=True)
class Rendering:
    """The way to make images.

    Attributes:
        flat: cheap images that only carry numbers.
        latency_s: pause per camera, one after the other, as one GPU elsewhere would take.
        threads: how many views of CARLA's cameras are drawn at the same time.
    """

    flat: bool = False
    latency_s: float = 0.0
    threads: int = 2


class GraphicsCard:
    """A simulated remote graphics card that renders one image after the other, each in the same time.

    It goes on with the next one whether or not this machine has a processor free to take the last one over.

    Args:
        latency_s: of an image; 0 for no card.
    """

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._lock = threading.Lock()
        self._free_s = 0.0  # when it has made all that it was asked for

    def make(self) -> tuple[float, float]:
        """Wait until it has made one more image; returns when it began and ended (``time.monotonic``)."""
        with self._lock:
            began_s = max(time.monotonic(), self._free_s)
            self._free_s = ended_s = began_s + self._latency_s
        while (left_s := ended_s - time.monotonic()) > 0:
            time.sleep(left_s)
        return began_s, ended_s


def camera_number(vehicle: str, camera: str) -> int:
    """Number an AirSim camera for a flat image: the lower 16 bits of the CRC-32 of ``vehicle/camera``."""
    return zlib.crc32(f"{vehicle}/{camera}".encode()) & 0xFFFF


def flat_rgb(width: int, height: int, *, camera_id: int, frame: int) -> UInt8:
    """Draw a (H, W, 4) image that encodes its camera and frame; too small an image holds fewer blocks."""
    image = np.full((height, width, 4), _GREY, np.uint8)
    image[..., 3] = 255
    code = ((camera_id & 0xFFFF) << FRAME_BITS) | (frame & 0xFFFFFFFF)
    count = CAMERA_BITS + FRAME_BITS
    across = width // BLOCK_PX
    if not across:
        return image
    down = -(-count // across)
    bits = np.zeros(across * down, np.uint8)
    bits[:count] = [255 * (code >> shift & 1) for shift in range(count - 1, -1, -1)]
    blocks = np.kron(bits.reshape(down, across), np.ones((BLOCK_PX, BLOCK_PX), np.uint8))[:height]
    rows, columns = blocks.shape
    used = np.zeros(across * down, bool)
    used[:count] = True
    where = np.kron(used.reshape(down, across), np.ones((BLOCK_PX, BLOCK_PX), bool))[:height]
    corner = image[:rows, :columns, :3]
    corner[where] = blocks[where][:, None]
    return image


@lru_cache(maxsize=64)
def flat_other(blueprint: str, width: int, height: int) -> UInt8:
    """Return the constant (H, W, 4) BGRA image of any other camera; it is shared and read-only."""
    image = np.zeros((height, width, 4), np.uint8)
    if blueprint == "sensor.camera.depth":
        image[...] = 255
    elif blueprint in ("sensor.camera.semantic_segmentation", "sensor.camera.instance_segmentation"):
        image[..., 2] = TAG["sky"]
    image[..., 3] = 255
    image.flags.writeable = False
    return image


def flat_pass(width: int, height: int, *, camera_id: int, frame: int) -> RenderedImage:
    """Return a stand-in for a raster pass: a flat image, masks of sky, a depth of 1,000 m, zero normals."""
    return RenderedImage(
        depth_m=np.full((height, width), 1000.0, np.float32),
        ids=np.zeros((height, width), np.uint32),
        tag=np.full((height, width), TAG["sky"], np.uint8),
        normal=np.zeros((height, width, 3), np.float32),
        bgra=flat_rgb(width, height, camera_id=camera_id, frame=frame),
        base_rgb=np.zeros((height, width, 3), np.uint8),
    )
