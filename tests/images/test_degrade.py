"""Degraded images: exposure is linear in light, blur keeps the mean, noise has the requested deviation and its own seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.images.degrade import degrade_image


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_no_degradation_is_the_identity() -> None:
    pixels = rng().integers(0, 256, (9, 11, 3), dtype=np.uint8)
    assert np.array_equal(degrade_image(pixels, rng=rng()), pixels)


@pytest.mark.parametrize(("stops", "expected"), [(1.0, 137), (-1.0, 73), (-2.0, 53), (3.0, 255)])
def test_exposure_stop_doubles_linear_light(stops: float, expected: int) -> None:
    """(100/255)^2.2 is 0.1275 of the light; twice of it is stored as 255 x 0.255^(1/2.2) = 137."""
    grey = np.full((2, 2, 3), 100, dtype=np.uint8)
    assert degrade_image(grey, rng=rng(), exposure_stops=stops).ravel().tolist() == [expected] * 12


@given(st.floats(-6, 6))
def test_exposure_keeps_the_order_of_greys(stops: float) -> None:
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    assert np.all(np.diff(degrade_image(ramp, rng=rng(), exposure_stops=stops)[0, :, 0].astype(int)) >= 0)


def test_blur_spreads_a_point_and_keeps_the_mean() -> None:
    point = np.zeros((41, 41, 3), dtype=np.uint8)
    point[20, 20] = 255
    point[19:22, 19:22] = 255  # nine pixels: what is spread stays above rounding
    blurred = degrade_image(point, rng=rng(), blur_sigma_px=1.5).astype(float)[..., 0]
    assert blurred.sum() == pytest.approx(9 * 255, rel=0.02)
    y, x = np.mgrid[-20:21, -20:21]
    spread_px2 = (blurred * (x**2 + y**2)).sum() / blurred.sum() / 2
    assert spread_px2 == pytest.approx(1.5**2 + 2 / 3, rel=0.08)  # variances add up: the square's own is 2/3


def test_noise_has_its_spread_its_seed_and_no_bias() -> None:
    grey = np.full((200, 200, 3), 128, dtype=np.uint8)
    noisy = degrade_image(grey, rng=rng(), noise_sigma=6.0)
    assert noisy.astype(float).std() == pytest.approx(6.0, rel=0.02)
    assert noisy.astype(float).mean() == pytest.approx(128, abs=0.1)
    assert np.array_equal(noisy, degrade_image(grey, rng=rng(), noise_sigma=6.0))
    assert not np.array_equal(noisy, degrade_image(grey, rng=np.random.default_rng(8), noise_sigma=6.0))
    assert np.all(grey == 128)  # the caller's image stays
