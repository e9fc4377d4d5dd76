"""Lossless optical flow files: Middlebury's ``.flo``.

A file is the float32 202021.25, width and height as int32, then float32 (u, v) pixel by pixel, all little-endian; more than
1e9 means unknown. Source: Middlebury flow code, ``README.txt`` ("PIEH").
"""

import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from uavsim.errors import DatasetError
from uavsim.images.codec import Float32Image, ImageSource, bytes_of, name_of

_HEAD: Final = struct.Struct("<fii")
_MAGIC: Final = 202021.25
_UNKNOWN: Final = np.float32(1e10)
_UNKNOWN_ABOVE: Final = 1e9


def encode_flow(flow_px: npt.NDArray[np.floating[Any]]) -> bytes:
    """Encode (H, W, 2) flow, pixels to the right and down; NaN is unknown."""
    height, width, _ = flow_px.shape
    known = np.where(np.isnan(flow_px), _UNKNOWN, flow_px)
    return _HEAD.pack(_MAGIC, width, height) + np.ascontiguousarray(known, dtype="<f4").tobytes()


def decode_flow(source: ImageSource) -> Float32Image:
    """Read (H, W, 2) float32 flow, pixels to the right and down; NaN is unknown.

    Raises:
        DatasetError: the file is no complete ``.flo`` file.
    """
    data, name = bytes_of(source), name_of(source)
    magic, width, height = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (0.0, 0, 0)
    if magic != _MAGIC or min(width, height) < 1 or len(data) != _HEAD.size + 8 * width * height:
        raise DatasetError(f"{name}: not a complete .flo file")
    flow_px = np.frombuffer(data, "<f4", offset=_HEAD.size).reshape(height, width, 2).astype(np.float32)
    flow_px[np.abs(flow_px) > _UNKNOWN_ABOVE] = np.nan
    return flow_px
