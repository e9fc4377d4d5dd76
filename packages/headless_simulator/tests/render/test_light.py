import numpy as np
import pytest
from headless_simulator.render.lanes import cloud_noise
from headless_simulator.render.light import (
    FOG_PER_M,
    NIGHT,
    PUDDLES,
    SUN_RGB,
    WET,
    direction_to_sun,
    light_of,
    noise_texture,
)
from headless_simulator.scene import Float64, Weather


def test_sun_direction_follows_carlas_angles() -> None:
    assert direction_to_sun(90, 0) == pytest.approx((0, 0, 1), abs=1e-12)
    assert direction_to_sun(0, 0) == pytest.approx((1, 0, 0), abs=1e-12)
    assert direction_to_sun(0, 90) == pytest.approx((0, 1, 0), abs=1e-12)
    assert direction_to_sun(30, 180) == pytest.approx((-np.sqrt(3) / 2, 0, 0.5), abs=1e-12)


def test_weather_parameters_change_their_quantities() -> None:
    clear = light_of(Weather()).numbers
    assert clear[[NIGHT, WET, PUDDLES, FOG_PER_M]].tolist() == [0, 0, 0, 0]
    assert light_of(Weather(sun_altitude_angle=-30)).numbers[NIGHT] == 1
    assert light_of(Weather(sun_altitude_angle=-30)).shadows == 0
    assert light_of(Weather(cloudiness=100)).shadows < 0.1 < light_of(Weather(cloudiness=20)).shadows
    assert light_of(Weather(precipitation_deposits=50)).numbers[PUDDLES] == pytest.approx(0.5)
    assert (
        light_of(Weather(fog_density=80)).numbers[FOG_PER_M] > light_of(Weather(fog_density=20)).numbers[FOG_PER_M] > 0
    )


def test_a_low_sun_is_red() -> None:
    red, green, blue = light_of(Weather(sun_altitude_angle=5)).numbers[SUN_RGB : SUN_RGB + 3]
    assert red > 1.3 * green > 1.3 * blue


def test_percentages_are_clipped() -> None:
    np.testing.assert_array_equal(light_of(Weather(cloudiness=250)).numbers, light_of(Weather(cloudiness=100)).numbers)
    np.testing.assert_array_equal(light_of(Weather(fog_density=-5)).numbers, light_of(Weather()).numbers)


def test_noise_repeats_without_a_seam() -> None:
    texture = noise_texture().astype(int)
    seam = np.abs(texture[:, 0] - texture[:, -1]).mean()
    inside = np.abs(np.diff(texture, axis=1)).mean()

    assert texture.mean() == pytest.approx(128, abs=1)
    assert texture.std() > 40
    assert seam < 1.2 * inside


def test_the_clouds_do_not_repeat() -> None:
    """A stretch of the sky's noise is nowhere near the same where the texture is itself again."""
    noise = noise_texture().ravel()
    x, y = np.meshgrid(np.arange(0.0, 200.0, 4.0), np.arange(0.0, 200.0, 4.0))

    def sky(along: int, up: int) -> Float64:
        return np.vectorize(lambda u, v: cloud_noise(noise, np.float32(u + 512 * along), np.float32(v + 512 * up)))(
            x, y
        )

    here = sky(0, 0)
    assert 0.1 < here.std() < 0.3
    for along, up in ((1, 0), (0, 1), (1, 1), (-1, 0), (2, -1)):
        assert np.corrcoef(here.ravel(), sky(along, up).ravel())[0, 1] < 0.75
