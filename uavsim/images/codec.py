"""Encode and decode image files; one of the few modules that call OpenCV.

Arrays are RGB everywhere in uavsim; only these modules handle OpenCV's BGR. Four kinds of file:

    rgb     PNG or JPEG, 8 bit.
    mask    PNG in CARLA's instance encoding: R = semantic tag, G = id & 255, B = id >> 8; 0 where no labelled actor is.
    tags    PNG, one channel of 8 bit: the semantic tag.
    depth   PNG, one channel of 16 bit, centimetres along the optical axis; 65535 = 655.35 m or farther (the sky).

Encoders are deterministic: the same array gives the same bytes. ``png.py`` writes PNG of levels 0 to 2, OpenCV everything
else (its JPEG is libjpeg-turbo); both release the GIL.
"""

import struct
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import cv2
import numpy as np
import numpy.typing as npt

from uavsim.errors import DatasetError, InputError
from uavsim.files.names import MOST_FILE_BYTES
from uavsim.files.parse import open_regular
from uavsim.images import png
from uavsim.images.png import MOST_PIXELS as MOST_PIXELS  # re-exported for readers, like fingerprint
from uavsim.images.png import Filter
from uavsim.images.png import fingerprint as fingerprint
from uavsim.typing import UInt8Array, UInt16Array

ImageSource: TypeAlias = bytes | str | Path
Float32Image: TypeAlias = npt.NDArray[np.float32]
ChannelOrder: TypeAlias = Literal["rgb", "bgr"]

DEPTH_FAR_M: Final = 655.35
_MOST_PIXELS_A_BYTE: Final = 10_000  # more than PNG and JPEG can pack; a few bytes could claim millions

_PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_JPEG_SIGNATURE: Final = b"\xff\xd8"
_JPEG_FRAME_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE_MARKERS: Final = frozenset({0x00, 0x01, *range(0xD0, 0xDA)})  # without a length, or only after the frame
_JPEG_SCAN: Final = b"\xff\xda"
_MOST_SCANS: Final = 100  # a progressive file has ten; each one is a pass over the whole image


def encode_png(
    pixels: npt.NDArray[Any], *, level: int = 1, order: ChannelOrder = "rgb", filter_rows: Filter = "sub"
) -> bytes:
    """Encode an image as PNG.

    Args:
        pixels: (H, W) or (H, W, 3) uint8, or (H, W) uint16; in order ``bgr`` also (H, W, 4) uint8 with unused alpha.
        level: 0..9; 1 is fast and near the best size for rendered images; from 3 on OpenCV encodes, far slower.
        order: order of the channels in ``pixels``.
        filter_rows: see ``png.encode``; levels from 3 on try every filter.
    """
    if level in png.FASTEST_LEVELS:
        return png.encode(_to_rgb(pixels, order=order), filter_rows=filter_rows, level=level)
    return _encode(".png", _to_bgr(pixels, order=order), [cv2.IMWRITE_PNG_COMPRESSION, level])


def encode_jpeg(pixels: UInt8Array, *, quality: int = 95, order: ChannelOrder = "rgb") -> bytes:
    """Encode (H, W, 3) or (H, W) uint8, or (H, W, 4) in order ``bgr``, as JPEG with 4:2:0 chroma."""
    return _encode(".jpg", _to_bgr(pixels, order=order), [cv2.IMWRITE_JPEG_QUALITY, quality])


def encode_mask(tag_id_pixels: UInt8Array, *, level: int = 1) -> bytes:
    """Encode (H, W, 3) uint8 of (tag, id & 255, id >> 8) as a mask file."""
    return encode_png(tag_id_pixels, level=level, filter_rows="up")


def encode_mask_ids(ids: UInt16Array, tags: UInt8Array, *, level: int = 1) -> bytes:
    """Encode (H, W) uint16 instance ids and (H, W) uint8 semantic tags as a mask file."""
    wide = ids.astype(np.uint16, copy=False)
    planes = (np.ascontiguousarray(tags), wide.astype(np.uint8), (wide >> 8).astype(np.uint8))
    return encode_mask(cast(UInt8Array, cv2.merge(planes)), level=level)


def encode_tags(tags: UInt8Array, *, level: int = 1) -> bytes:
    """Encode (H, W) uint8 semantic tags."""
    return encode_png(tags, level=level, filter_rows="up")


def mask_ids_and_tags(source: ImageSource) -> tuple[UInt16Array, UInt8Array]:
    """Read a mask file: (H, W) uint16 instance ids and (H, W) uint8 semantic tags.

    Raises:
        DatasetError: not a readable three-channel 8-bit image.
    """
    tags, low, high = cv2.split(decode_mask(source))
    ids = high.astype(np.uint16)
    ids <<= 8
    ids |= low
    return ids, tags


def decode_mask(source: ImageSource) -> UInt8Array:
    """Read a mask file as stored: (H, W, 3) uint8 of tag, id & 255 and id >> 8.

    Raises:
        DatasetError: not a readable three-channel 8-bit image.
    """
    rgb = _decode(source, cv2.IMREAD_UNCHANGED)
    if rgb.ndim != 3 or rgb.dtype != np.uint8:
        raise DatasetError(f"{name_of(source)}: a mask has three channels of 8 bits, this has {rgb.shape} {rgb.dtype}")
    return rgb


def encode_depth(depth_m: npt.NDArray[np.floating[Any]], *, level: int = 1) -> bytes:
    """Encode (H, W) metres along the optical axis as 16-bit centimetres; +inf and far values saturate."""
    return encode_png(_centimetres(depth_m), level=level, filter_rows="up")


def decode_depth(source: ImageSource) -> Float32Image:
    """Read a depth file: (H, W) float32 metres, +inf at and beyond ``DEPTH_FAR_M``.

    Raises:
        DatasetError: not a readable 16-bit image of one channel.
    """
    raw = _decode(source, cv2.IMREAD_UNCHANGED)
    if raw.ndim != 2 or raw.dtype != np.uint16:
        raise DatasetError(f"{name_of(source)}: depth has one channel of 16 bits, this has {raw.shape} {raw.dtype}")
    return _metres(raw)


def _centimetres(depth_m: npt.NDArray[np.floating[Any]]) -> UInt16Array:
    centimetres = np.clip(np.nan_to_num(depth_m, nan=0.0, posinf=DEPTH_FAR_M), 0.0, DEPTH_FAR_M) * 100.0
    return cast(UInt16Array, np.rint(centimetres).astype(np.uint16))


def _metres(raw: npt.NDArray[Any]) -> Float32Image:
    depth_m = raw.astype(np.float32) / np.float32(100.0)
    depth_m[raw == 65535] = np.inf
    return depth_m


def decode_tags(source: ImageSource) -> UInt8Array:
    """Read an image of semantic tags, (H, W) uint8.

    Raises:
        DatasetError: not a readable 8-bit image of one channel.
    """
    tags = _decode(source, cv2.IMREAD_UNCHANGED)
    if tags.ndim != 2 or tags.dtype != np.uint8:
        raise DatasetError(f"{name_of(source)}: tags have one channel of 8 bits, this has {tags.shape} {tags.dtype}")
    return tags


def decode_rgb(source: ImageSource) -> UInt8Array:
    """Read an image as (H, W, 3) uint8 RGB.

    Raises:
        DatasetError: missing, truncated or not an image.
    """
    pixels = _decode(source, cv2.IMREAD_COLOR)
    return pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)


def filtered_rows(source: ImageSource) -> tuple[UInt8Array, int] | None:
    """Read a PNG's filtered rows, for readers that undo the filter themselves.

    Returns:
        (H, 1 + row bytes) uint8 with filter numbers in the first column, and the bytes of a pixel; None as ``png.decode``.

    Raises:
        DatasetError: missing, too large, or a chunk goes past the file's end.
    """
    return png.filtered_rows(_sound(source))


def grey_of(rgb: UInt8Array) -> UInt8Array:
    """Return the (H, W) uint8 luminance of an (H, W, 3) uint8 RGB image."""
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def image_size(source: ImageSource) -> tuple[int, int]:
    """Read (width, height) in pixels from the file's header alone.

    Raises:
        DatasetError: neither PNG nor JPEG, or too short.
    """
    return _size(source if isinstance(source, bytes) else _read_file(source, first_bytes=65536), source)


def as_declared(data: bytes, size_px: tuple[int, int], *, name: object) -> bytes:
    """Return the bytes of an image file after comparing its size with the one that its dataset declares.

    Bytes that are no image pass: their decoder refuses them.

    Raises:
        DatasetError: the header has another size.
    """
    try:
        found = _size(data, data)
    except DatasetError:
        return data
    if found != size_px:
        declared = " x ".join(map(str, size_px))
        raise DatasetError(
            f"{name}: {found[0]} x {found[1]} pixels, its dataset declares {declared}; run uavsim validate on its folder"
        )
    return data


def _size(head: bytes, source: ImageSource) -> tuple[int, int]:
    if head[:8] == _PNG_SIGNATURE and len(head) >= 24:
        width, height = struct.unpack(">II", head[16:24])
        return int(width), int(height)
    if head[:2] == _JPEG_SIGNATURE:
        return _jpeg_size(head, source)
    raise DatasetError(f"{name_of(source)}: neither PNG nor JPEG")


def _jpeg_size(head: bytes, source: ImageSource) -> tuple[int, int]:
    offset = 2
    while offset + 9 <= len(head) and head[offset] == 0xFF:
        marker, length = head[offset + 1], int.from_bytes(head[offset + 2 : offset + 4], "big")
        if marker in _JPEG_FRAME_MARKERS:
            height, width = struct.unpack(">HH", head[offset + 5 : offset + 9])
            return int(width), int(height)
        if marker in _JPEG_BARE_MARKERS or (marker != 0xFF and length < 2):  # libjpeg would find another frame
            break
        offset += 1 if marker == 0xFF else 2 + length
    raise DatasetError(f"{name_of(source)}: JPEG without a frame header")


def _checked(pixels: npt.NDArray[Any], order: ChannelOrder) -> npt.NDArray[Any]:
    channels = {3, 4} if order == "bgr" else {3}  # simulators send a fourth channel after blue, green and red
    if pixels.ndim not in {2, 3} or (pixels.ndim == 3 and pixels.shape[2] not in channels) or pixels.size == 0:
        raise InputError(f"an image is (H, W) or (H, W, 3) and not empty, this has shape {pixels.shape}")
    return np.ascontiguousarray(pixels)


def _to_rgb(pixels: npt.NDArray[Any], *, order: ChannelOrder) -> npt.NDArray[Any]:
    pixels = _checked(pixels, order)
    if pixels.ndim == 2 or order == "rgb":
        return pixels
    code = cv2.COLOR_BGR2RGB if pixels.shape[2] == 3 else cv2.COLOR_BGRA2RGB
    return cast("npt.NDArray[Any]", cv2.cvtColor(pixels, code))


def _to_bgr(pixels: npt.NDArray[Any], *, order: ChannelOrder) -> npt.NDArray[Any]:
    pixels = _checked(pixels, order)
    if pixels.ndim == 2 or (order == "bgr" and pixels.shape[2] == 3):
        return pixels
    code = cv2.COLOR_RGB2BGR if order == "rgb" else cv2.COLOR_BGRA2BGR
    return cast("npt.NDArray[Any]", cv2.cvtColor(pixels, code))


def _encode(suffix: str, pixels: npt.NDArray[Any], options: list[int]) -> bytes:
    done, data = cv2.imencode(suffix, pixels, options)
    if not done:
        raise InputError(f"cannot encode {pixels.shape} {pixels.dtype} as {suffix}")
    return data.tobytes()


def _sound(source: ImageSource) -> bytes:
    """Return the bytes of an image that claims no more pixels and chunks than it may have.

    Raises:
        DatasetError: the image claims more.
    """
    data = bytes_of(source)
    width, height = _size(data, source)
    if not 0 < width * height <= min(MOST_PIXELS, _MOST_PIXELS_A_BYTE * len(data)):
        raise DatasetError(
            f"{name_of(source)}: {width} x {height} pixels in {len(data)} bytes; an image has {MOST_PIXELS:,} at most"
        )
    if data.startswith(_PNG_SIGNATURE):
        if not png.has_complete_chunks(data):
            raise DatasetError(f"{name_of(source)}: not a readable image: a chunk goes past the file's end")
    elif data.count(_JPEG_SCAN) > _MOST_SCANS:
        raise DatasetError(f"{name_of(source)}: not a readable image: more than {_MOST_SCANS} scans")
    return data


def _decode(source: ImageSource, flag: int) -> npt.NDArray[Any]:
    """Return (H, W, 3) RGB pixels, or (H, W) of one channel unless OpenCV decodes it and ``flag`` asks for three."""
    data = _sound(source)
    quickly = png.decode(data)
    if quickly is not None and (flag == cv2.IMREAD_UNCHANGED or quickly.dtype == np.uint8):
        return quickly
    try:
        pixels = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), flag)
    except cv2.error as error:
        raise DatasetError(f"{name_of(source)}: not a readable image") from error
    if pixels is None:
        raise DatasetError(f"{name_of(source)}: not a readable image")
    if pixels.ndim == 3:
        code = cv2.COLOR_BGR2RGB if pixels.shape[2] == 3 else cv2.COLOR_BGRA2RGB
        return cast("npt.NDArray[Any]", cv2.cvtColor(pixels, code))
    return cast("npt.NDArray[Any]", pixels)


def _read_file(path: str | Path, *, first_bytes: int = -1) -> bytes:
    with open_regular(Path(path), most_bytes=MOST_FILE_BYTES) as file:
        return file.read(first_bytes)


def bytes_of(source: ImageSource) -> bytes:
    """Return the bytes of a file or of bytes.

    Raises:
        DatasetError: the file is missing, not a regular file, or too large.
    """
    return source if isinstance(source, bytes) else _read_file(source)


def name_of(source: ImageSource) -> str:
    """Return a source's name for messages."""
    return f"{len(source)} bytes" if isinstance(source, bytes) else str(source)
