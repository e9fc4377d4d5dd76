"""Added noise and blur are measured; other values are calculated by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from uavsim.errors import DatasetError
from uavsim.images import codec
from uavsim.images.degrade import degrade_image
from uavsim_benchmarks.labels.pixels import _histograms, decode_grey, grey, measure_pixels, psnr_db


@pytest.fixture(scope="module")
def town() -> np.ndarray:
    """Return an (H, W, 3) image of roofs and roads: flat patches with sharp edges."""
    rng = np.random.default_rng(3)
    patches = rng.choice(np.array([30, 60, 215], dtype=np.uint8), (9, 16))
    return np.repeat(np.kron(patches, np.ones((30, 30), np.uint8))[..., None], 3, axis=2)


@pytest.mark.parametrize("sigma", [0.0, 4.0, 12.0])
def test_noise_is_measured(town: np.ndarray, sigma: float) -> None:
    noisy = degrade_image(town, rng=np.random.default_rng(1), noise_sigma=sigma)
    grey_sigma = sigma * math.sqrt(0.299**2 + 0.587**2 + 0.114**2)  # three channels' noise in one luminance
    assert measure_pixels(grey(noisy)).noise_sigma == pytest.approx(grey_sigma, rel=0.1, abs=0.2)


@pytest.mark.parametrize(("sigma_px", "share"), [(1.2, 1.0), (1.2, 0.5), (2.0, 1.0), (2.0, 0.5), (3.0, 1.0)])
def test_blur_is_measured_whatever_the_height_of_the_edges(town: np.ndarray, sigma_px: float, share: float) -> None:
    dim = (town * share).astype(np.uint8)
    blurred = degrade_image(dim, rng=np.random.default_rng(1), blur_sigma_px=sigma_px)
    assert measure_pixels(grey(blurred)).blur_px == pytest.approx(sigma_px, rel=0.3)
    assert measure_pixels(grey(town)).blur_px < 0.5


def test_a_flat_image_has_no_edge_to_measure() -> None:
    found = measure_pixels(np.full((40, 60), 90, np.uint8))
    assert math.isnan(found.blur_px)
    assert (found.luminance, found.noise_sigma, found.clipped_share) == (90.0, pytest.approx(0.0, abs=0.2), 0.0)


def test_luminance_contrast_and_clipping_by_hand() -> None:
    image = np.zeros((20, 40), np.uint8)
    image[:, 20:] = 200
    found = measure_pixels(image)
    assert found.luminance == 100.0
    assert found.contrast == pytest.approx(200.0, abs=1.0)
    assert found.clipped_share == 0.5
    red = np.zeros((2, 2, 3), np.uint8)
    red[..., 0] = 255
    assert grey(red).tolist() == [[77, 77], [77, 77]]


def test_psnr_by_hand() -> None:
    clean = np.full((4, 4, 3), 100, np.uint8)
    assert psnr_db(clean, clean) == 100.0
    assert psnr_db(clean + 5, clean) == pytest.approx(10 * math.log10(255**2 / 25))


def test_grey_from_the_file_is_grey_of_its_colours(town: np.ndarray) -> None:
    noisy = degrade_image(town, rng=np.random.default_rng(1), noise_sigma=9.0)
    for data in (codec.encode_png(noisy), codec.encode_png(noisy, level=5), codec.encode_jpeg(noisy)):
        np.testing.assert_array_equal(decode_grey(data), grey(codec.decode_rgb(data)))
    with pytest.raises(DatasetError):
        decode_grey(codec.encode_png(noisy)[:90])


@given(arrays.arrays(np.uint8, (3, 5, 3), elements=st.sampled_from([0, 1, 127, 128, 254, 255])))
def test_no_channel_reaches_into_another(pixels: np.ndarray) -> None:
    np.testing.assert_array_equal(decode_grey(codec.encode_png(pixels)), grey(pixels))


def test_measures_are_counted_on_every_fourth_line() -> None:
    image = np.random.default_rng(2).integers(0, 256, (11, 9), dtype=np.uint8)
    image[5, 4] = 255  # next to black: the largest answers are counted as 255, not around a corner
    image[4:7, 3], image[4:7, 5] = 0, 0
    wide = image.astype(np.int64)
    answers = np.zeros((4, 256), np.int64)
    for y in (1, 5, 9):
        for x in range(1, 8):
            (nw, n, ne), (w, c, e), (sw, s, se) = wide[y - 1 : y + 2, x - 1 : x + 2]
            noise = abs(nw - 2 * n + ne - 2 * w + 4 * c - 2 * e + sw - 2 * s + se)
            curvature = max(abs(w + e - 2 * c), abs(n + s - 2 * c))
            slope = max(abs(ne + 2 * e + se - nw - 2 * w - sw), abs(sw + 2 * s + se - nw - 2 * n - ne)) // 4
            for row, value in enumerate((c, noise, curvature, slope)):
                answers[row, min(value, 255)] += 1
    np.testing.assert_array_equal(_histograms(image), answers)
