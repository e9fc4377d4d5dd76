"""Colour is independent of the parts in which rows are processed."""

import math

import numpy as np
import pytest
from headless_simulator.render.lanes import SPAN, TILE
from headless_simulator.render.renderer import Renderer
from headless_simulator.scene import View, Weather

from .worlds import LIBRARY, city, movers, no_movers

WEATHERS = {
    "noon": Weather(sun_altitude_angle=50.0),
    "rain": Weather(sun_altitude_angle=40.0, wetness=80.0, precipitation_deposits=70.0, fog_density=15.0),
    "night": Weather(sun_altitude_angle=-30.0),
}
FOCAL_PX = 700.0
CITY = Renderer(city(), LIBRARY)  # one for all: its buffers are used again


def colours(width: int, weather: Weather, *, cars: bool = True) -> np.ndarray:
    fov_deg = max(1.0, math.degrees(2 * math.atan(width / (2 * FOCAL_PX))))
    view = View((-30.0, 4.0, 25.0, -30.0, 20.0, 0.0), width, 200, fov_deg)
    driven = movers(
        ["vehicle.tesla.model3"] * 3, np.array([[x, 6.0 * x, 0.0, 0.0, 30.0, 0.0] for x in (-6.0, 0.0, 6.0)])
    )
    image = CITY.render(
        view,
        driven if cars else no_movers(),
        weather=weather,
        signals=np.zeros(0, np.uint8),
        time_s=0.0,
        want_bgra=True,
    )
    assert image.bgra is not None
    return image.bgra[:, :, :3].astype(int)


@pytest.mark.parametrize("weather", WEATHERS.values(), ids=WEATHERS)
def test_a_wide_image_has_no_seams(weather: Weather) -> None:
    wide, narrow = 2 * TILE + 152, TILE - 24
    cut = (wide - narrow) // 2
    assert cut < TILE < cut + narrow  # the border of two parts lies in what is compared

    apart = abs(colours(wide, weather)[:, cut : cut + narrow] - colours(narrow, weather))

    assert np.quantile(apart, 0.999) <= 1  # the focal length is reported as an angle
    seam = apart[:, TILE - cut - SPAN : TILE - cut + SPAN]
    assert np.quantile(seam, 0.99) <= 2


@pytest.mark.parametrize("width", [1, 7, SPAN, SPAN + 1, TILE - 1, TILE, TILE + 1])
def test_widths_around_the_tile_size_are_fully_drawn(width: int) -> None:
    image = colours(width, WEATHERS["noon"], cars=False)

    assert image.shape == (200, width, 3)
    assert image.max(axis=(0, 2)).min() > 40  # each column shows sky or ground by day


def test_reused_buffers_do_not_change_the_image() -> None:
    first = colours(TILE + 77, WEATHERS["noon"])
    colours(300, WEATHERS["night"])

    assert (colours(TILE + 77, WEATHERS["noon"]) == first).all()
