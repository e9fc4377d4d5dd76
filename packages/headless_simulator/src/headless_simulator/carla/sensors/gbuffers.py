"""G-buffers of RGB cameras: those of the raster pass, in CARLA's encoding.

Source: CARLA's ``SceneCaptureSensor`` and ``ImageUtil``, the copies that its Unreal fork makes of each texture, and Unreal's
``EncodeGBuffer`` and ``RHISurfaceDataConversion``.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from headless_simulator.carla.streams import Streams, Subscriber
from headless_simulator.scene import RenderedImage, UInt8
from headless_simulator.world.actors import Actor

NAMES: Final = (
    "SceneColor", "SceneDepth", "SceneStencil", "GBufferA", "GBufferB", "GBufferC", "GBufferD", "GBufferE", "GBufferF",
    "Velocity", "SSAO", "CustomDepth", "CustomStencil",
)  # fmt: skip
COLOUR, DEPTH, NORMAL, BASE, STENCIL = 0, 1, 3, 5, 12  # indices in NAMES
SERVED: Final = (COLOUR, DEPTH, NORMAL, BASE, STENCIL)
ENABLED: Final = "gbuffers enabled"
STREAMS: Final = "gbuffer streams"  # by index in NAMES

_MOST_HALF: Final = 65504.0
_Texture = tuple[int, tuple[Subscriber, ...]]


def listened(actor: Actor, streams: Streams) -> tuple[_Texture, ...]:
    """Return a camera's textures with their current readers; empty until a client enables them."""
    if not actor.extra.get(ENABLED):
        return ()
    read = ((number, streams.readers(stream)) for number, stream in actor.extra.get(STREAMS, {}).items())
    return tuple((number, readers) for number, readers in read if readers)


def textures(numbers: Iterable[int], image: RenderedImage) -> dict[int, UInt8]:
    """Return (H, W, 4) uint8 BGRA by texture; the client sets alpha to opaque."""
    return {number: _texture(number, image) for number in numbers}


def _texture(number: int, image: RenderedImage) -> UInt8:
    if number == COLOUR:
        assert image.bgra is not None
        return image.bgra
    out = np.zeros((*image.tag.shape, 4), np.uint8)
    if number == DEPTH:  # half floats of centimetres, stretched so that the deepest pixel is white
        depth_cm = np.minimum(image.depth_m * np.float32(100.0), _MOST_HALF).astype(np.float16).astype(np.float32)
        out[..., :3] = (depth_cm / max(float(depth_cm.max()), 1.0) * np.float32(255.0)).astype(np.uint8)[..., None]
    elif number == NORMAL:  # ten bits an axis, cut to eight; black where nothing is lit
        assert image.normal is not None
        ten = np.floor((image.normal + np.float32(1.0)) * np.float32(511.5) + np.float32(0.5))
        out[..., 2::-1] = ten / np.float32(1023.0) * np.float32(255.0) * image.normal.any(axis=2, keepdims=True)
    elif number == BASE:
        assert image.base_rgb is not None
        out[..., 2::-1] = image.base_rgb
    else:
        out[..., :3] = image.tag[..., None]
    return out
