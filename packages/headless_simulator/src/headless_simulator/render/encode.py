"""CARLA's pixel encodings, written into the caller's buffers."""

from __future__ import annotations

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import Float32, UInt8, UInt32

FAR_M = 1000.0  # largest depth of CARLA's depth images


def encode_instance(ids: UInt32, tag: UInt8, bgra: UInt8) -> None:
    """Write an instance image: R = tag, G = id & 255, B = id >> 8 & 255, A = 255.

    Movers keep the low 16 bits of their actor id; static objects get ``0x8000 | object id & 0x7fff``.

    Args:
        ids: (H, W) as in ``RenderedImage.ids``.
        tag: (H, W).
        bgra: (H, W, 4) out.
    """
    _put_instance(ids.reshape(-1), tag.reshape(-1), bgra.reshape(-1).view(np.uint32))


@kernel()
def _put_instance(source: UInt32, kind: UInt8, out: UInt32) -> None:
    for i in range(source.shape[0]):
        number = source[i]
        short = (
            (number & np.uint32(0x7FFF)) | np.uint32(0x8000)
            if number & np.uint32(0x80000000)
            else number & np.uint32(0xFFFF)
        )
        out[i] = (
            np.uint32(0xFF000000)
            | (np.uint32(kind[i]) << np.uint32(16))
            | ((short & np.uint32(0xFF)) << np.uint32(8))
            | (short >> np.uint32(8))
        )


def encode_semantic(tag: UInt8, bgra: UInt8) -> None:
    """Write a semantic image: R = tag, A = 255.

    Args:
        tag: (H, W).
        bgra: (H, W, 4) out.
    """
    bgra.view(np.uint32)[..., 0] = np.uint32(0xFF000000) | tag.astype(np.uint32) << 16


def encode_depth(depth_m: Float32, bgra: UInt8) -> None:
    """Write a depth image: R + 256 G + 65536 B of depth / 1000 m in 24 bits, clipped there; A = 255.

    Args:
        depth_m: (H, W) planar depth, inf where sky.
        bgra: (H, W, 4) out.
    """
    _put_depth(depth_m.reshape(-1), bgra.reshape(-1).view(np.uint32))


@kernel()
def _put_depth(source: Float32, out: UInt32) -> None:
    for i in range(source.shape[0]):
        share = min(np.float64(source[i]) / FAR_M, 1.0)
        level = np.uint32(share * 16777215.0 + 0.5)
        out[i] = (
            np.uint32(0xFF000000)
            | ((level & np.uint32(0xFF)) << np.uint32(16))
            | (level & np.uint32(0xFF00))
            | (level >> np.uint32(16))
        )


def encode_normal(normal: Float32, bgra: UInt8) -> None:
    """Write a normals image: each world axis from -1..1 to 0..255, x in R, y in G, z in B; A = 255.

    Args:
        normal: (H, W, 3) unit normals, zero where sky.
        bgra: (H, W, 4) out.
    """
    levels = normal * np.float32(127.5)
    levels += np.float32(127.5)
    bgra[..., 2::-1] = np.clip(levels, 0, 255, out=levels)  # the assignment truncates
    bgra[..., 3] = 255
