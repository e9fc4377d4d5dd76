"""A fast PNG encoder with one fixed filter for each kind of image, and a decoder for files of that form.

OpenCV tries every filter on every row and then deflates with zlib: 24 ms for an 800 x 450 image; this takes 5 ms for a file of
the same size. The filter depends on the image: ``sub`` for camera images, ``up`` for masks with repeated rows.

The same array gives the same bytes on every processor: ISA-L's levels 0 to 2 write the same stream with SSE, AVX2 and AVX-512
(``tests/images/test_png.py`` compares hashes); level 3 does not.

``decode`` reads the files of ``encode``, and others with these pixel types and filters. It returns None for the rest: OpenCV
reads those, and reports damaged files.
Source: PNG specification (W3C, third edition), sections 5.2 (signature and chunks), 9 (filtering), 10 (zlib).
"""

import itertools
import struct
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from uavsim.errors import InputError
from uavsim.files.deflate import deflated
from uavsim.typing import UInt8Array

Filter: TypeAlias = Literal["none", "sub", "up"]
Pixels: TypeAlias = npt.NDArray[Any]

FASTEST_LEVELS: Final = range(3)
"""Levels of ISA-L with the same output on every processor."""
MOST_PIXELS: Final = 1 << 25
"""Maximum size of a decoded image; 8K cameras have fewer."""

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
FILTER_TYPE: Final[dict[Filter, int]] = {"none": 0, "sub": 1, "up": 2}
"""The filter's number, the first byte of a row."""
_GREY, _RGB = 0, 2  # colour types
_BYTES_OF_PIXEL: Final = {(8, _GREY): 1, (16, _GREY): 2, (8, _RGB): 3}
_MOST_INFLATION: Final = 1032  # maximum ratio of deflate: two bits for 258 bytes
_MOST_CHUNKS: Final = 1 << 16  # some writers' chunks have 8 KiB each
_END: Final = b"\x00\x00\x00\x00IEND\xaeB`\x82"


def encode(pixels: Pixels, *, filter_rows: Filter, level: int = 1) -> bytes:
    """Encode an image as PNG.

    Args:
        pixels: (H, W, 3) uint8 RGB, (H, W) uint8 or (H, W) uint16.
        filter_rows: subtract from every byte nothing, the pixel on its left, or the one above.
        level: 0 (fastest) to 2 (smallest).

    Raises:
        InputError: ``pixels`` has another shape or type, or ``level`` is out of range.
    """
    _refuse_level(level)
    rows, bytes_per_pixel = _rows_of(pixels)
    filtered = _filtered(rows, bytes_per_pixel, filter_rows)
    colour = _RGB if pixels.ndim == 3 else _GREY
    return _file(filtered, pixels.shape[1], bits=8 * pixels.dtype.itemsize, colour=colour, level=level)


def encode_filtered(rows: UInt8Array, *, bytes_per_pixel: Literal[1, 3], level: int = 1) -> bytes:
    """Encode an image of 8 bits a channel from its filtered rows.

    Args:
        rows: (H, 1 + row bytes) uint8, contiguous; the first byte of a row is its filter's number.
        bytes_per_pixel: 1 grey, 3 RGB.
        level: as for ``encode``.

    Raises:
        InputError: ``level`` is out of range.
    """
    _refuse_level(level)
    colour = _RGB if bytes_per_pixel == 3 else _GREY
    return _file(rows, (rows.shape[1] - 1) // bytes_per_pixel, bits=8, colour=colour, level=level)


def _refuse_level(level: int) -> None:
    if level not in FASTEST_LEVELS:
        raise InputError(f"PNG level {level} is not 0, 1 or 2")


def _file(rows: UInt8Array, width: int, *, bits: int, colour: int, level: int) -> bytes:
    data = deflated([rows.reshape(-1).data], level=level)
    header = struct.pack(">IIBBBBB", width, len(rows), bits, colour, 0, 0, 0)
    return b"".join((_SIGNATURE, *_chunk(b"IHDR", header), *_chunk(b"IDAT", data), _END))


def decode(data: bytes) -> Pixels | None:
    """Decode a PNG of the form that ``encode`` writes.

    Returns:
        (H, W, 3) uint8 RGB, (H, W) uint8 or (H, W) uint16; None where the file is damaged, or is a PNG of another kind
        (a palette, an alpha channel, interlaced rows, the filters ``average`` and ``paeth``, chunks that change its
        colours), or of more than ``MOST_PIXELS``.
    """
    found = filtered_rows(data)
    rows = None if found is None else _unfiltered(*found)
    if found is None or rows is None:
        return None
    if found[1] == 2:
        return rows.view(">u2").astype(np.uint16)
    return rows.reshape(len(rows), -1, 3) if found[1] == 3 else rows


def filtered_rows(data: bytes) -> tuple[UInt8Array, int] | None:
    """Return the filtered rows of an image, for readers that undo the filter themselves.

    Returns:
        (H, 1 + row bytes) uint8 with filter numbers in the first column, and the bytes of a pixel; None as ``decode``.
    """
    chunks = _chunks(data)
    if chunks is None or len(chunks[0]) != 13:
        return None
    header, deflated = chunks
    width, height, depth, colour, *methods = struct.unpack(">IIBBBBB", header)
    bytes_per_pixel = _BYTES_OF_PIXEL.get((depth, colour))
    if bytes_per_pixel is None or any(methods) or not 0 < width * height <= MOST_PIXELS:
        return None
    row_bytes = width * bytes_per_pixel + 1
    filtered = _inflated(deflated, height=height, row_bytes=row_bytes)
    return None if filtered is None else (np.frombuffer(filtered, np.uint8).reshape(height, row_bytes), bytes_per_pixel)


def fingerprint(data: bytes) -> str:
    """Return size, CRC-32 and Adler-32 of a file: equal for equal files, and for one pair of different files in 2**60.

    It takes a tenth of a cryptographic hash's time; it does not resist forgery.
    """
    return f"{len(data)}-{isal_zlib.crc32(data):08x}-{isal_zlib.adler32(data):08x}"


def has_complete_chunks(data: bytes) -> bool:
    """Return whether every chunk of a PNG lies within the file: readers allocate as much memory as a chunk reports."""
    offset = len(_SIGNATURE)
    for _ in range(_MOST_CHUNKS):
        end = offset + 12 + int.from_bytes(data[offset : offset + 4])
        if end > len(data):
            return False
        if data[offset + 4 : offset + 8] == b"IEND":
            return True
        offset = end
    return False


def _inflated(deflated: bytes | memoryview, *, height: int, row_bytes: int) -> bytes | None:
    """Return the filtered rows; None if they are damaged, more or fewer than expected."""
    size = height * row_bytes
    if size > _MOST_INFLATION * len(deflated):
        return None  # before memory is allocated
    stream = isal_zlib.decompressobj()
    try:
        rows = stream.decompress(deflated, size + 1)  # an upper limit, whatever the file holds
    except isal_zlib.IsalError:  # type: ignore[misc]  # its stub takes the class for an exception
        return None
    return rows if stream.eof and len(rows) == size else None


def _chunks(data: bytes) -> tuple[bytes, bytes | memoryview] | None:
    """Return the header and the deflated pixels of a file of IHDR, IDAT and IEND with valid checksums; else None."""
    if not data.startswith(_SIGNATURE):
        return None
    view, offset, header = memoryview(data), len(_SIGNATURE), b""
    deflated: list[memoryview] = []
    while offset + 12 <= len(data):
        length, kind = int.from_bytes(data[offset : offset + 4]), data[offset + 4 : offset + 8]
        body, reported = view[offset + 8 : offset + 8 + length], data[offset + 8 + length : offset + 12 + length]
        if isal_zlib.crc32(view[offset + 4 : offset + 8 + length]) != int.from_bytes(reported) or len(reported) != 4:
            return None
        if kind == b"IEND":
            return header, deflated[0] if len(deflated) == 1 else b"".join(deflated)
        if kind == b"IHDR" and not header:
            header = bytes(body)
        elif kind == b"IDAT" and header:
            deflated.append(body)
        else:
            return None
        offset += 12 + length
    return None


def _unfiltered(filtered: UInt8Array, bytes_per_pixel: int) -> UInt8Array | None:
    """Undo the filter of (H, 1 + row bytes) rows; returns (H, row bytes), or None for other filters."""
    kinds = filtered[:, 0]
    body = filtered[:, 1:]
    if (kinds == FILTER_TYPE["up"]).all():
        rows = np.ascontiguousarray(body)
        for above, row in itertools.pairwise(rows):
            np.add(row, above, out=row)
        return rows
    if (kinds == FILTER_TYPE["sub"]).all():
        across = np.ascontiguousarray(body).reshape(len(body), -1, bytes_per_pixel)
        return np.add.accumulate(across, axis=1, dtype=np.uint8).reshape(body.shape)
    if (kinds == FILTER_TYPE["none"]).all():
        return np.ascontiguousarray(body)
    return None


def _rows_of(pixels: Pixels) -> tuple[UInt8Array, int]:
    """Return the image's bytes in file order, (H, row bytes), and the bytes of a pixel."""
    is_rgb = pixels.ndim == 3 and pixels.shape[2] == 3 and pixels.dtype == np.uint8
    is_grey = pixels.ndim == 2 and pixels.dtype in (np.uint8, np.uint16)
    if not (is_rgb or is_grey) or pixels.size == 0:
        raise InputError(
            f"a PNG is (H, W, 3) or (H, W) of bytes, or (H, W) uint16; this is {pixels.shape} {pixels.dtype}"
        )
    ordered = pixels.astype(">u2") if pixels.dtype == np.uint16 else pixels  # the file has the high byte first
    rows = np.ascontiguousarray(ordered).view(np.uint8).reshape(pixels.shape[0], -1)
    return rows, 3 if is_rgb else pixels.dtype.itemsize


def _filtered(rows: UInt8Array, bytes_per_pixel: int, filter_rows: Filter) -> UInt8Array:
    height, width = rows.shape
    out = np.empty((height, width + 1), np.uint8)
    out[:, 0] = FILTER_TYPE[filter_rows]
    body = out[:, 1:]
    if filter_rows == "sub":
        body[:, :bytes_per_pixel] = rows[:, :bytes_per_pixel]
        np.subtract(rows[:, bytes_per_pixel:], rows[:, :-bytes_per_pixel], out=body[:, bytes_per_pixel:])
    elif filter_rows == "up":
        body[0] = rows[0]
        np.subtract(rows[1:], rows[:-1], out=body[1:])
    else:
        body[:] = rows
    return out


def _chunk(kind: bytes, data: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    return struct.pack(">I", len(data)), kind, data, struct.pack(">I", isal_zlib.crc32(data, isal_zlib.crc32(kind)))
