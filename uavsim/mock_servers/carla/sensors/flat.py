"""Cheap pictures for load tests: no scene, but the camera and the frame can be read from the pixels.

The upper left corner of an RGB picture holds 48 blocks of 8 x 8 pixels, white for 1 and black for 0: first the camera's
actor id in 16 bits, then the frame number in 32 bits, highest bit first. Blocks run from left to right and go on in the
next row of blocks where the picture is narrower than 384 pixels. The rest is grey. The blocks survive JPEG.
Masks show the sky everywhere, depth is 1,000 m everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from uavsim.mock_servers.scene import TAG, UInt8

BLOCK_PX: Final = 8
CAMERA_BITS: Final = 16
FRAME_BITS: Final = 32
_GREY: Final = 96


def flat_rgb(width: int, height: int, *, camera_id: int, frame: int) -> UInt8:
    """Draw a (H, W, 4) picture that tells its camera and frame; too small a picture holds fewer blocks."""
    picture = np.full((height, width, 4), _GREY, np.uint8)
    picture[..., 3] = 255
    code = ((camera_id & 0xFFFF) << FRAME_BITS) | (frame & 0xFFFFFFFF)
    count = CAMERA_BITS + FRAME_BITS
    across = width // BLOCK_PX
    if not across:
        return picture
    down = -(-count // across)
    bits = np.zeros(across * down, np.uint8)
    bits[:count] = [255 * (code >> shift & 1) for shift in range(count - 1, -1, -1)]
    blocks = np.kron(bits.reshape(down, across), np.ones((BLOCK_PX, BLOCK_PX), np.uint8))[:height]
    rows, columns = blocks.shape
    used = np.zeros(across * down, bool)
    used[:count] = True
    where = np.kron(used.reshape(down, across), np.ones((BLOCK_PX, BLOCK_PX), bool))[:height]
    corner = picture[:rows, :columns, :3]
    corner[where] = blocks[where][:, None]
    return picture


@lru_cache(maxsize=64)
def flat_other(blueprint: str, width: int, height: int) -> UInt8:
    """Draw the constant picture of any other camera; shared, so never write to it."""
    picture = np.zeros((height, width, 4), np.uint8)
    if blueprint == "sensor.camera.depth":
        picture[...] = 255
    elif blueprint in ("sensor.camera.semantic_segmentation", "sensor.camera.instance_segmentation"):
        picture[..., 2] = TAG["sky"]
    picture[..., 3] = 255
    picture.flags.writeable = False
    return picture
