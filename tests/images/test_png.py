"""PNG files of uavsim's encoder, read by two third-party decoders, and their bytes on all processors."""

import hashlib
import struct
import threading
import zlib
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from uavsim.errors import InputError
from uavsim.images import png

SIZES = st.tuples(st.integers(1, 40), st.integers(1, 40))
RGB = SIZES.flatmap(lambda size: arrays.arrays(np.uint8, (*size, 3)))
GREY = SIZES.flatmap(lambda size: arrays.arrays(st.sampled_from([np.uint8, np.uint16]), size))
FILTERS = st.sampled_from(["none", "sub", "up"])


def read_by_cv2(data: bytes) -> np.ndarray:
    pixels: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    return pixels[..., ::-1] if pixels.ndim == 3 else pixels


def gradient() -> np.ndarray:
    """Return an (H, W, 3) striped road with seeded grain, as compressible as a rendered image."""
    y, x = np.mgrid[0:90, 0:160]
    grain = np.random.default_rng(5).integers(0, 4, (90, 160, 3))
    return ((np.stack([x, y * 2, (x // 8 + y // 8) % 2 * 90], axis=-1) + grain) % 256).astype(np.uint8)


@given(pixels=RGB, filter_rows=FILTERS, level=st.integers(0, 2))
def test_rgb_round_trip(pixels: np.ndarray, filter_rows: png.Filter, level: int):
    np.testing.assert_array_equal(read_by_cv2(png.encode(pixels, filter_rows=filter_rows, level=level)), pixels)


@given(pixels=GREY, filter_rows=FILTERS)
def test_grey_round_trip(pixels: np.ndarray, filter_rows: png.Filter):
    back = read_by_cv2(png.encode(pixels, filter_rows=filter_rows))
    assert back.dtype == pixels.dtype
    np.testing.assert_array_equal(back, pixels)


@given(pixels=st.one_of(RGB, GREY), filter_rows=FILTERS)
def test_decode_inverts_encode(pixels: np.ndarray, filter_rows: png.Filter):
    back = png.decode(png.encode(pixels, filter_rows=filter_rows))
    assert back.dtype == pixels.dtype
    np.testing.assert_array_equal(back, pixels)


def test_decode_leaves_other_files_to_opencv():
    paeth = [cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_PAETH]
    assert png.decode(cv2.imencode(".png", gradient(), paeth)[1].tobytes()) is None
    assert png.decode(cv2.imencode(".png", np.zeros((3, 3, 4), np.uint8))[1].tobytes()) is None
    assert png.decode(cv2.imencode(".jpg", gradient())[1].tobytes()) is None


@given(at=st.integers(0, 2000), flip=st.integers(1, 255))
def test_damaged_file_is_not_decoded(at: int, flip: int):
    data = bytearray(png.encode(gradient()[:20, :20], filter_rows="sub"))
    data[at % len(data)] ^= flip
    assert png.decode(bytes(data)) is None


def test_decompression_bomb_is_refused():
    small = png.encode(np.zeros((2, 2), np.uint8), filter_rows="none")
    deflated = zlib.compress(bytes(10**7))
    chunk = b"IDAT" + deflated
    bomb = small[:33] + struct.pack(">I", len(deflated)) + chunk + struct.pack(">I", zlib.crc32(chunk)) + small[-12:]
    assert png.decode(bomb) is None


def test_no_memory_is_allocated_for_an_impossible_size():
    small = png.encode(np.zeros((2, 2), np.uint8), filter_rows="none")
    header = b"IHDR" + struct.pack(">IIBBBBB", 2**20, 2**31 - 1, 8, 0, 0, 0, 0)
    huge = small[:12] + header + struct.pack(">I", zlib.crc32(header)) + small[33:]
    assert png.decode(huge) is None  # two million gigabytes


@pytest.mark.parametrize(("side", "read"), [(5792, True), (5793, False)])
def test_maximum_number_of_pixels(side: int, read: bool):
    """2**25 pixels are 5,792 x 5,793; ``filtered_rows`` checks the limit itself."""
    bomb = png.encode(np.zeros((5793, side), np.uint8), filter_rows="none")
    assert (png.filtered_rows(bomb) is not None) == read


def test_two_pixels_on_paper():
    data = png.encode(np.array([[[10, 20, 30], [11, 18, 30]]], np.uint8), filter_rows="sub")
    length = struct.unpack(">I", data[33:37])[0]
    assert data[37:41] == b"IDAT"
    assert zlib.decompress(data[41 : 41 + length]) == bytes([1, 10, 20, 30, 1, 254, 0])  # 18 - 20 wraps to 254
    assert data[41 + length : 45 + length] == struct.pack(">I", zlib.crc32(data[37 : 41 + length]))


@pytest.mark.parametrize(
    ("filter_rows", "level", "expected"),
    [
        ("sub", 0, "43ed276d3d57d15b"),
        ("sub", 1, "ee534a70f353937f"),
        ("sub", 2, "4511cfa588622712"),
        ("up", 1, "4389bfeac6b49091"),
        ("none", 2, "cd01832277462ffa"),
    ],
)
def test_bytes_are_the_same_on_every_processor(filter_rows: png.Filter, level: int, expected: str):
    data = png.encode(gradient(), filter_rows=filter_rows, level=level)
    assert hashlib.sha256(data).hexdigest()[:16] == expected


def test_a_fingerprint_is_size_crc_and_adler_of_the_bytes():
    assert png.fingerprint(b"123456789") == "9-cbf43926-091e01de"  # the check values of both checksums


def test_views_and_non_contiguous_images():
    wide = gradient()
    np.testing.assert_array_equal(read_by_cv2(png.encode(wide[::2, ::3], filter_rows="sub")), wide[::2, ::3])
    np.testing.assert_array_equal(read_by_cv2(png.encode(wide[..., ::-1], filter_rows="up")), wide[..., ::-1])


@pytest.mark.parametrize(
    "pixels",
    [np.zeros((0, 4, 3), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4)), np.zeros((4, 4, 3), np.uint16)],
)
def test_unsupported_arrays_are_refused(pixels: np.ndarray):
    with pytest.raises(InputError, match="a PNG is"):
        png.encode(pixels, filter_rows="none")


def test_processor_dependent_level_is_refused():
    with pytest.raises(InputError, match="0, 1 or 2"):
        png.encode(gradient(), filter_rows="sub", level=3)


def streams(level: int, images: np.ndarray) -> list[bytes]:
    return [png.encode(image, filter_rows="none", level=level) for image in images]


@pytest.mark.parametrize("level", [1, 2])
def test_bytes_are_the_same_in_every_thread(level: int):
    # Many rows that begin alike: whether the first bytes are found again depended on where the thread's stack was.
    rng = np.random.default_rng(1)
    images = np.repeat(rng.integers(0, 256, (15_000, 1, 200), dtype=np.uint8), 3, axis=1)
    images[:, 1, 150:] = images[:, 2, 120:170]
    found: list[list[bytes]] = []
    for size in (1, 8, 15):
        before = threading.stack_size(size << 20)
        thread = threading.Thread(target=lambda: found.append(streams(level, images)))
        thread.start()
        threading.stack_size(before)
        thread.join()

    assert found[0] == found[1]
    assert found[0] == found[2]
