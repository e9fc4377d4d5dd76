"""Shutter images calculated by hand: a white car crosses a black image at 1000 pixels per second."""

from typing import Any

import numpy as np
import pytest

from uavsim.capture.shutter import ThroughShutter
from uavsim.geometry.shutter import Shutter
from uavsim.images.light import dimmed, light_of, stored
from uavsim.records.modalities import DEPTH, INSTANCE, RGB, SHUTTER, SHUTTER_DEPTH, SHUTTER_INSTANCE, Mask
from uavsim.records.sensors import CameraParams

HEIGHT, WIDTH, CAR_PX = 100, 120, 20
STEP_US, PX_PER_TICK = 10_000, 10
"""1000 px/s are 10 px in the 10 ms of a step."""


def crossing(tick: int) -> dict[str, Any]:
    """Return the image of a tick: a car of full height, its left side at 10 px plus 10 px per tick."""
    left = 10 + PX_PER_TICK * tick
    car_pixels = np.zeros((HEIGHT, WIDTH), bool)
    car_pixels[:, left : left + CAR_PX] = True
    return {
        RGB: np.where(car_pixels[..., None], 255, 0).astype(np.uint8).repeat(4, axis=2),
        INSTANCE: Mask(car_pixels.astype(np.uint16) * 7, car_pixels.astype(np.uint8) * 14),
        DEPTH: np.where(car_pixels, np.float32(20 + tick), np.float32(50)),
    }


def taken(shutter: Shutter) -> dict[str, Any]:
    through = ThroughShutter(shutter, HEIGHT)
    for tick in range(shutter.steps + 1):
        through.add(tick, crossing(tick))
    return through.image()


def test_rolling_shutter_shears_a_moving_car() -> None:
    """1000 px/s in 40 ms are 40 px from the first row to the last one, in four jumps of 10."""
    image = taken(Shutter(exposure_us=0, readout_us=40_000, step_us=STEP_US))
    ids, tags = image[SHUTTER_INSTANCE].ids, image[SHUTTER_INSTANCE].tags
    left = (ids == 7).argmax(axis=1)
    assert (left[0], left[-1]) == (10, 50)
    assert np.unique(left).tolist() == [10, 20, 30, 40, 50]
    ideal = 10 + 1000 * 0.04 * (np.arange(HEIGHT) + 0.5) / HEIGHT
    assert np.abs(left - ideal).max() <= PX_PER_TICK / 2  # half a step at its speed
    assert ((ids == 7).sum(axis=1) == CAR_PX).all()
    np.testing.assert_array_equal(tags, np.where(ids == 7, 14, 0))
    np.testing.assert_array_equal(image[SHUTTER], np.where(ids == 7, 255, 0)[..., None].repeat(3, axis=2))
    np.testing.assert_array_equal(image[SHUTTER_DEPTH][[0, -1]].min(axis=1), [20, 24])


def test_exposure_blurs_a_moving_car_in_linear_light() -> None:
    """In 20 ms the car moves its length of 20 px: light is 1/4, 3/4, 3/4, 1/4 in steps of 10 px; 1/4 is stored as 136."""
    image = taken(Shutter(exposure_us=20_000, readout_us=0, step_us=STEP_US))
    row = image[SHUTTER][50, :, 0]
    assert row[[5, 15, 25, 35, 45, 55]].tolist() == [0, 136, 224, 224, 136, 0]
    assert float(light_of(row).sum()) == pytest.approx(CAR_PX, rel=0.004)  # none is lost, but for 8 bits
    assert (image[SHUTTER_INSTANCE].ids[50] == 7).argmax() == 20  # the middle of the exposure


def test_static_scene_is_unchanged() -> None:
    still = {**crossing(0), RGB: np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 4), dtype=np.uint8)}
    through = ThroughShutter(Shutter(20_000, 30_000, STEP_US), HEIGHT)
    for tick in range(6):
        through.add(tick, still)
    image = through.image()
    assert np.abs(image[SHUTTER].astype(int) - still[RGB][..., :3]).max() <= 1
    np.testing.assert_array_equal(image[SHUTTER_INSTANCE].ids, still[INSTANCE].ids)


def test_light_round_trip() -> None:
    values = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(stored(light_of(values)), values)


def test_vignetting_follows_its_polynomial() -> None:
    """At r = 1 the light is 1 - 0.3 - 0.2 = 0.5, stored as 186 of 255; the centre is unchanged."""
    camera = CameraParams(641, 361, 90.0, vignetting=(-0.3, -0.2, 0.0))
    share = camera.light_share
    image = dimmed(np.full((361, 641, 3), 255, np.uint8), share)
    assert image[180, 320].tolist() == [255] * 3
    assert abs(int(image[0, 0, 0]) - 186) <= 1
    assert 0.5 < share[0, 0] < 0.51  # the middle of the corner's pixel
    np.testing.assert_allclose(share, share[::-1, ::-1])
