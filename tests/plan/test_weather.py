import carla
import numpy as np
import pytest

from uavsim.config.load import load
from uavsim.config.weather import Weather
from uavsim.errors import ConfigError
from uavsim.plan.weather import PRESETS, preset_track, weather_track
from uavsim.records.plan import WEATHER_PARAMETERS


def carlas_presets():
    weather = carla.WeatherParameters
    return {name: getattr(weather, name) for name in dir(weather) if isinstance(getattr(weather, name), weather)}


def test_every_preset_is_carlas_own():
    presets = carlas_presets()
    assert set(presets) == set(PRESETS)
    for name, preset in presets.items():
        values = [getattr(preset, parameter) for parameter in WEATHER_PARAMETERS]
        np.testing.assert_allclose(PRESETS[name], values, rtol=1e-6, err_msg=name)


def test_parameters_are_in_wire_order():
    # the constructor takes them in the order of the struct
    distinct = carla.WeatherParameters(*[float(i) for i in range(1, 15)])
    assert [getattr(distinct, name) for name in WEATHER_PARAMETERS] == list(range(1, 15))


@pytest.fixture
def track(tmp_path):
    def track(text, scene_us=10_000_000):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        return weather_track(load(path, Weather), scene_us=scene_us)

    return track


def test_still_weather(track):
    wet = track("preset: ClearSunset\nsun_altitude_angle: 8\nwetness: 70\n")
    assert wet.name == "mine"
    assert wet.times_us == (0,)
    expected = list(PRESETS["ClearSunset"])
    expected[5], expected[9] = 8, 70
    np.testing.assert_array_equal(wet.values, [expected])
    np.testing.assert_array_equal(track("fog_density: 30\n").values[0, [0, 6]], [5, 30])  # ClearNoon by default
    np.testing.assert_array_equal(preset_track("HardRainNight").values, [PRESETS["HardRainNight"]])


def test_changing_weather(track):
    change = track("from: {preset: ClearNoon}\nto: {preset: HardRainNoon}\n")
    assert change.times_us == (0, 10_000_000)
    np.testing.assert_array_equal(change.values, [PRESETS["ClearNoon"], PRESETS["HardRainNoon"]])
    late = track("from: {preset: ClearNoon}\nto: {cloudiness: 90}\nstart_s: 2\nend_s: 3.5\n")
    assert late.times_us == (0, 2_000_000, 3_500_000)
    np.testing.assert_array_equal(late.values[:, 0], [5, 5, 90])
    one_sample = track("from: {}\nto: {cloudiness: 90}\n", scene_us=0)
    assert one_sample.times_us == (0, 1)


def test_an_unknown_preset_is_refused(track):
    with pytest.raises(
        ConfigError, match=r"mine\.yaml:2: to\.preset: CARLA has no preset 'ClerNoon'; did you mean 'ClearNoon'"
    ):
        track("from: {}\nto: {preset: ClerNoon}\n")
