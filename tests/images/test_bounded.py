"""All decoders refuse too large files, and headers with too many pixels, before decoding."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from uavsim.errors import DatasetError
from uavsim.files.names import MOST_FILE_BYTES
from uavsim.images import codec, events, flow, points

READERS: list[Callable[[Path], object]] = [
    codec.decode_rgb,
    codec.decode_mask,
    codec.decode_depth,
    codec.decode_tags,
    events.decode_events,
    flow.decode_flow,
    points.decode_points,
    points.decode_owners,
]


@pytest.mark.parametrize("read", READERS)
def test_sparse_huge_file_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(MOST_FILE_BYTES + 20)
    with pytest.raises(DatasetError, match="larger than"):
        read(path)
    with pytest.raises(DatasetError, match="not a regular file"):
        read(tmp_path)


def claiming(kind: str, side: int) -> bytes:
    """Return a small image file with a header that declares ``side`` lines and columns."""
    if kind == "png":
        small = codec.encode_png(np.zeros((2, 2, 3), np.uint8))
        header = b"IHDR" + struct.pack(">II", side, side) + small[24:29]
        return small[:12] + header + struct.pack(">I", zlib.crc32(header)) + small[33:] + bytes(4000)
    small = codec.encode_jpeg(np.zeros((8, 8, 3), np.uint8))
    at = small.index(b"\xff\xc0") + 5
    return small[:at] + struct.pack(">HH", side, side) + small[at + 4 :] + bytes(4000)


@pytest.mark.parametrize("kind", ["png", "jpeg"])
@pytest.mark.parametrize("read", [codec.decode_rgb, codec.decode_mask, codec.decode_depth, codec.decode_tags])
def test_decoders_refuse_more_than_the_maximum_number_of_pixels(kind: str, read: Callable[[bytes], object]) -> None:
    with pytest.raises(DatasetError, match=r"5793 x 5793 pixels in .* bytes; an image has 33,554,432 at most"):
        read(claiming(kind, 5793))
