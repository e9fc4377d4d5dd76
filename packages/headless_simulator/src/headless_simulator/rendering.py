"""Rendering options, and flat images for load tests, which encode camera and frame in their pixels.

The upper left corner of an RGB image has 48 blocks of 8 x 8 pixels, white for 1 and black for 0: the camera in 16 bits
(CARLA: actor id; AirSim: ``camera_number``), then the frame in 32 bits, highest bit first. Blocks run from left to right,
and continue in the next row of blocks if the image is narrower than 384 pixels. Other pixels are grey. The blocks survive
JPEG. Masks are all sky, depth is 1,000 m everywhere.
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
    """Rendering options.

    Attributes:
        flat: draw flat images.
        latency_s: sequential delay per camera, like a remote GPU.
    """

    flat: bool = False
    latency_s: float = 0.0


class GraphicsCard:
    """A simulated remote graphics card that renders images sequentially in constant time.

    It continues with the next image even if no local processor is free to receive the last one.

    Args:
        latency_s: time per image; 0 for no card.
    """

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._lock = threading.Lock()
        self._free_s = 0.0  # completion time of all requested images

    def make(self) -> tuple[float, float]:
        """Wait for one more image; returns its start and end (``time.monotonic``)."""
        with self._lock:
            began_s = max(time.monotonic(), self._free_s)
            self._free_s = ended_s = began_s + self._latency_s
        while (left_s := ended_s - time.monotonic()) > 0:
            time.sleep(left_s)
        return began_s, ended_s


def camera_number(vehicle: str, camera: str) -> int:
    """Return an AirSim camera's number in flat images: the lower 16 bits of the CRC-32 of ``vehicle/camera``."""
    return zlib.crc32(f"{vehicle}/{camera}".encode()) & 0xFFFF


def flat_rgb(width: int, height: int, *, camera_id: int, frame: int) -> UInt8:
    """Return an (H, W, 4) uint8 BGRA image that encodes camera and frame; small images have fewer blocks."""
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
