"""CARLA's weather presets, and a weather file's parameters over a scene."""

from typing import Final

import numpy as np

from uavsim.config.load import Loaded
from uavsim.config.weather import Weather, WeatherState
from uavsim.records.plan import WEATHER_PARAMETERS, WeatherTrack
from uavsim.registry import nearest
from uavsim.typing import FloatArray

_AIR: Final = (1.0, 0.03, 0.0331)  # scattering of clear air: the same in every preset


def _preset(*first_ten: float, dust: float = 0.0) -> tuple[float, ...]:
    return (*first_ten, *_AIR, dust)


PRESETS: Final[dict[str, tuple[float, ...]]] = {
    # clouds, rain, puddles, wind, sun azimuth, sun altitude, fog: density, distance, falloff; wetness
    "Default": _preset(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1),
    "ClearNoon": _preset(5, 0, 0, 10, -1, 45, 2, 0.75, 0.1, 0),
    "CloudyNoon": _preset(60, 0, 0, 10, -1, 45, 3, 0.75, 0.1, 0),
    "WetNoon": _preset(5, 0, 50, 10, -1, 45, 3, 0.75, 0.1, 0),
    "WetCloudyNoon": _preset(60, 0, 50, 10, -1, 45, 3, 0.75, 0.1, 0),
    "SoftRainNoon": _preset(20, 30, 50, 30, -1, 45, 3, 0.75, 0.1, 0),
    "MidRainyNoon": _preset(60, 60, 60, 60, -1, 45, 3, 0.75, 0.1, 0),
    "HardRainNoon": _preset(100, 100, 90, 100, -1, 45, 7, 0.75, 0.1, 0),
    "ClearSunset": _preset(5, 0, 0, 10, -1, 15, 2, 0.75, 0.1, 0),
    "CloudySunset": _preset(60, 0, 0, 10, -1, 15, 3, 0.75, 0.1, 0),
    "WetSunset": _preset(5, 0, 50, 10, -1, 15, 2, 0.75, 0.1, 0),
    "WetCloudySunset": _preset(60, 0, 50, 10, -1, 15, 2, 0.75, 0.1, 0),
    "SoftRainSunset": _preset(20, 30, 50, 30, -1, 15, 2, 0.75, 0.1, 0),
    "MidRainSunset": _preset(60, 60, 60, 60, -1, 15, 3, 0.75, 0.1, 0),
    "HardRainSunset": _preset(100, 100, 90, 100, -1, 15, 7, 0.75, 0.1, 0),
    "ClearNight": _preset(5, 0, 0, 10, -1, -90, 60, 75, 1, 0),
    "CloudyNight": _preset(60, 0, 0, 10, -1, -90, 60, 0.75, 0.1, 0),
    "WetNight": _preset(5, 0, 50, 10, -1, -90, 60, 75, 1, 60),
    "WetCloudyNight": _preset(60, 0, 50, 10, -1, -90, 60, 0.75, 0.1, 60),
    "SoftRainNight": _preset(60, 30, 50, 30, -1, -90, 60, 0.75, 0.1, 60),
    "MidRainyNight": _preset(80, 60, 60, 60, -1, -90, 60, 0.75, 0.1, 80),
    "HardRainNight": _preset(100, 100, 90, 100, -1, -90, 100, 0.75, 0.1, 100),
    "DustStorm": _preset(100, 0, 0, 100, -1, 45, 2, 0.75, 0.1, 0, dust=100),
}
"""Every preset of CARLA 0.9.16 with its 14 values."""


def preset_track(name: str) -> WeatherTrack:
    """Return a constant track with a preset's values."""
    return WeatherTrack(name, (0,), np.array([PRESETS[name]]))


def weather_track(weather: Loaded[Weather], *, scene_us: int) -> WeatherTrack:
    """Return a weather file's parameters over a scene of ``scene_us`` microseconds.

    Raises:
        ConfigError: no such preset.
    """
    model = weather.model
    if model.from_ is None or model.to is None:
        return WeatherTrack(weather.name, (0,), _values(weather, model, ())[None])
    start_us = round(model.start_s * 1e6)
    end_us = round(model.end_s * 1e6) if model.end_s is not None else max(scene_us, start_us + 1)
    before, after = _values(weather, model.from_, ("from",)), _values(weather, model.to, ("to",))
    keys = {0: before, start_us: before, end_us: after}
    return WeatherTrack(weather.name, tuple(keys), np.stack(list(keys.values())))


def _values(weather: Loaded[Weather], state: WeatherState, key_path: tuple[str, ...]) -> FloatArray:
    preset = state.preset or "ClearNoon"
    if preset not in PRESETS:
        guess = nearest(preset, PRESETS)
        hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(PRESETS)}"
        raise weather.error((*key_path, "preset"), f"CARLA has no preset {preset!r}; {hint}")
    values = [getattr(state, name) for name in WEATHER_PARAMETERS]
    return np.array([base if value is None else value for base, value in zip(PRESETS[preset], values, strict=True)])
