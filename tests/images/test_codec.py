import resource
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from uavsim.errors import DatasetError, InputError
from uavsim.images.codec import (
    decode_depth,
    decode_rgb,
    encode_depth,
    encode_jpeg,
    encode_mask,
    encode_mask_ids,
    encode_png,
    image_size,
    mask_ids_and_tags,
)

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 13))


def red_left_blue_right() -> np.ndarray:
    pixels = np.zeros((16, 24, 3), np.uint8)
    pixels[:, :12, 0] = 255
    pixels[:, 12:, 2] = 255
    return pixels


@pytest.mark.parametrize("level", [0, 1, 9])
def test_png_round_trip(level: int) -> None:
    pixels = red_left_blue_right()
    np.testing.assert_array_equal(decode_rgb(encode_png(pixels, level=level)), pixels)


def test_bgr_input_is_reordered() -> None:
    pixels = red_left_blue_right()
    assert encode_png(pixels[..., ::-1], order="bgr") == encode_png(pixels)


def test_jpeg_round_trip_is_close() -> None:
    pixels = red_left_blue_right()
    read = decode_rgb(encode_jpeg(pixels, quality=95)).astype(int)
    assert np.abs(read[:, 2:9] - pixels[:, 2:9]).max() < 12


@settings(max_examples=50, deadline=None)
@given(
    SHAPES.flatmap(lambda s: st.tuples(hnp.arrays(np.uint16, s), hnp.arrays(np.uint8, s))),
)
def test_mask_round_trip(pair: tuple[np.ndarray, np.ndarray]) -> None:
    ids, tags = pair
    read_ids, read_tags = mask_ids_and_tags(encode_mask_ids(ids, tags))
    np.testing.assert_array_equal(read_ids, ids)
    np.testing.assert_array_equal(read_tags, tags)


def test_mask_is_carlas_encoding() -> None:
    camera_pixels = np.array([[[14, 0x34, 0x12], [12, 255, 0]]], np.uint8)  # R tag, G low, B high
    ids, tags = mask_ids_and_tags(encode_mask(camera_pixels))
    assert ids.tolist() == [[0x1234, 255]]
    assert tags.tolist() == [[14, 12]]
    assert encode_mask(camera_pixels) == encode_mask_ids(ids, tags)


@settings(max_examples=50, deadline=None)
@given(SHAPES.flatmap(lambda s: hnp.arrays(np.float32, s, elements=st.floats(0, 655, width=32))))
def test_depth_is_right_to_half_a_centimetre(depth_m: np.ndarray) -> None:
    assert np.abs(decode_depth(encode_depth(depth_m)) - depth_m).max() <= 0.005 + 1e-4


def test_far_depth_decodes_to_infinity() -> None:
    read = decode_depth(encode_depth(np.array([[1.0, 700.0, np.inf]])))
    assert read[0, 0] == np.float32(1.0)
    assert np.isinf(read[0, 1:]).all()


def test_size_comes_from_the_header(tmp_path: Path) -> None:
    pixels = red_left_blue_right()
    assert image_size(encode_png(pixels)) == (24, 16)
    path = tmp_path / "a.jpg"
    path.write_bytes(encode_jpeg(pixels))
    assert image_size(path) == (24, 16)


@pytest.mark.parametrize("damage", [b"", b"not an image", encode_png(np.ones((9, 9, 3), np.uint8))[:30]])
def test_damaged_files_are_reported_by_name(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "broken.png"
    path.write_bytes(damage)
    with pytest.raises(DatasetError, match=r"broken\.png"):
        decode_rgb(path)


def test_wrong_image_types_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="three channels"):
        mask_ids_and_tags(encode_png(np.zeros((2, 2), np.uint16)))
    with pytest.raises(DatasetError, match="one channel"):
        decode_depth(encode_png(np.zeros((2, 2, 3), np.uint8)))
    with pytest.raises(DatasetError, match="cannot be read"):
        decode_rgb(tmp_path / "missing.png")
    with pytest.raises(InputError, match="shape"):
        encode_png(np.zeros((2, 2, 4), np.uint8))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def test_no_memory_is_allocated_for_a_missing_chunk() -> None:
    """OpenCV allocates and zeroes the declared size of a chunk, two billion bytes."""
    good = encode_png(red_left_blue_right(), level=1)
    before = _peak_bytes()
    for at in (8, 33, len(good) - 12):
        with pytest.raises(DatasetError, match="past the file's end"):
            decode_rgb(good[:at] + b"\x7f\xff\xff\xff" + good[at + 4 :])
    assert _peak_bytes() < before + (200 << 20)


def test_jpeg_with_too_many_scans_is_refused() -> None:
    """A progressive file of some kilobytes can have thousands of scans over millions of pixels."""
    good = encode_jpeg(red_left_blue_right())
    scan = good[good.index(b"\xff\xda") : -2]
    assert decode_rgb(good[:-2] + scan + good[-2:]).shape == (16, 24, 3)
    with pytest.raises(DatasetError, match="more than 100 scans"):
        decode_rgb(good[:-2] + 100 * scan + good[-2:])


@pytest.mark.parametrize("bare", [b"\xff\xd0", b"\xff\x01", b"\xff\x00", b"\xff\xe0\0\0"])
def test_checked_jpeg_size_is_the_decoded_one(bare: bytes) -> None:
    """After a marker without a length, libjpeg finds another frame than a reader that expects one."""
    good = encode_jpeg(red_left_blue_right())
    with pytest.raises(DatasetError, match="without a frame header"):
        image_size(good[:2] + bare + good[2:])
    assert image_size(good[:2] + b"\xff\xff\xff" + good[2:]) == (
        24,
        16,
    )  # any number of these may stand before a marker
