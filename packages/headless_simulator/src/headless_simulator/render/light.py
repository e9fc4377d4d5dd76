"""Light of sun, sky, fog and water from CARLA's weather parameters."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from headless_simulator.scene import Float32, UInt8, Weather

NOISE_SIZE: Final = 512

# Indices into ``Light.numbers``.
TO_SUN, SUN_RGB, SKY_RGB, BOUNCE_RGB, ZENITH_RGB, HORIZON_RGB, FOG_RGB = 0, 3, 6, 9, 12, 15, 18
FOG_PER_M, FOG_FALLOFF_PER_M, FOG_START_M, WET, PUDDLES, NIGHT, CLOUDS, SATURATION, SUN_DISC, DUST, HAZE_PER_M = range(
    21, 32
)
NUMBERS: Final = 32


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """Lighting of one weather.

    Attributes:
        numbers: float32 at the indices above; colours are linear and exposed.
        rain: density of streaks, 0..1.
        rain_level: brightness of streaks, 0..255.
        wind: wind strength, 0..1.
        sun_deg: altitude and azimuth of the shadow-casting light, in steps of half a degree.
        shadows: strength of shadows, 0..1; 0: no shadows.
    """

    numbers: Float32
    rain: float
    rain_level: float
    wind: float
    sun_deg: tuple[float, float]
    shadows: float


def _ramp(value: float, low: float, high: float) -> float:
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return share * share * (3 - 2 * share)


def _mix(a: Float32, b: Float32, share: float) -> Float32:
    return a + (b - a) * np.float32(share)


def _rgb(r: float, g: float, b: float) -> Float32:
    return np.array([r, g, b], dtype=np.float32)


def direction_to_sun(altitude_deg: float, azimuth_deg: float) -> tuple[float, float, float]:
    """Return the unit vector to the sun in Unreal's axes: azimuth 0 is x, 90 is y."""
    alt, azi = math.radians(altitude_deg), math.radians(azimuth_deg)
    return math.cos(alt) * math.cos(azi), math.cos(alt) * math.sin(azi), math.sin(alt)


@lru_cache(maxsize=64)
def light_of(weather: Weather) -> Light:
    """Compute the light of a weather; percentages are clipped to 0..100."""
    part = {name: min(1.0, max(0.0, getattr(weather, name) / 100.0)) for name in _PERCENTS}
    altitude = max(-90.0, min(90.0, weather.sun_altitude_angle))
    clouds, rain, dust, fog = part["cloudiness"], part["precipitation"], part["dust_storm"], part["fog_density"]
    day, direct = _ramp(altitude, -9.0, 10.0), _ramp(altitude, -0.5, 5.0)
    low_sun = 1.0 - _ramp(altitude, 3.0, 32.0)
    cover = max(clouds**1.6, 0.85 * fog**0.7, 0.95 * dust)

    reddened = _rgb(
        *(math.exp(-each * 1.6 * low_sun) for each in (0.02, 0.20, 0.55))
    )  # NumPy's exp differs between processors
    sun = _rgb(1.0, 0.95, 0.86) * reddened * np.float32(2.7 * direct)
    sun = sun * np.float32(1.0 - 0.97 * cover)
    zenith = _mix(_rgb(0.004, 0.007, 0.020), _rgb(0.14, 0.31, 0.74), day)
    horizon = _mix(_rgb(0.012, 0.016, 0.034), _rgb(0.58, 0.74, 0.95), day)
    horizon = _mix(
        horizon, _rgb(0.95, 0.48, 0.20) * np.float32(0.15 + 0.75 * day), 0.75 * low_sun * _ramp(altitude, -8.0, 1.0)
    )
    overcast = _rgb(0.60, 0.63, 0.68) * np.float32(0.025 + 0.95 * day)
    zenith, horizon = _mix(zenith, overcast * np.float32(0.72), 0.92 * cover), _mix(horizon, overcast, 0.88 * cover)
    if dust:
        yellow = _rgb(0.72, 0.50, 0.24) * np.float32(0.03 + 0.97 * day)
        zenith, horizon = _mix(zenith, yellow, 0.9 * dust), _mix(horizon, yellow, dust)
    sky = _mix(zenith, horizon, 0.45) * np.float32(1.05 + 0.35 * cover) * np.float32(1.0 - 0.25 * rain)
    sky = sky + _rgb(0.012, 0.017, 0.030)
    bounce = (sun * np.float32(max(0.0, math.sin(math.radians(altitude))) * 0.16) + sky * np.float32(0.32)) * _rgb(
        1.0, 0.94, 0.84
    )
    fog_rgb = _mix(horizon * np.float32(0.96), overcast * np.float32(0.98), min(1.0, fog + 0.3 * rain) * (1.0 - dust))

    # Exposure follows the scene's light partially: full adaptation would make night as bright as day.
    level = float((sun * max(0.0, math.sin(math.radians(altitude))) + sky).mean())
    gain = np.float32(1.0 / (level**0.66 + 0.03))

    numbers = np.zeros(NUMBERS, dtype=np.float32)
    shadow_altitude = max(3.0, round(altitude * 2) / 2)
    shadow_azimuth = round((weather.sun_azimuth_angle % 360.0) * 2) / 2 % 360.0
    numbers[TO_SUN : TO_SUN + 3] = direction_to_sun(max(3.0, altitude), shadow_azimuth)
    for offset, colour in (
        (SUN_RGB, sun), (SKY_RGB, sky), (BOUNCE_RGB, bounce), (ZENITH_RGB, zenith), (HORIZON_RGB, horizon), (FOG_RGB, fog_rgb),
    ):  # fmt: skip
        numbers[offset : offset + 3] = colour * gain
    numbers[FOG_PER_M] = 0.032 * fog**1.9 + 0.012 * dust**1.5
    numbers[FOG_FALLOFF_PER_M] = 0.05 * max(0.0, weather.fog_falloff) * (1.0 - dust)
    numbers[FOG_START_M] = max(0.0, weather.fog_distance)
    numbers[HAZE_PER_M] = 0.00018 + 0.0009 * rain + 0.0002 * clouds
    numbers[WET] = max(part["wetness"], 0.6 * part["precipitation_deposits"], 0.75 * rain)
    numbers[PUDDLES] = part["precipitation_deposits"]
    numbers[NIGHT] = 1.0 - _ramp(altitude, -4.0, 6.0)
    numbers[CLOUDS] = clouds
    numbers[SATURATION] = 1.0 - 0.30 * rain - 0.15 * cover - 0.25 * numbers[NIGHT]
    numbers[SUN_DISC] = direct * (1.0 - cover) * 6.0
    numbers[DUST] = dust
    rain_level = 235.0 - 150.0 * float(numbers[NIGHT])
    return Light(
        numbers,
        rain,
        rain_level,
        part["wind_intensity"],
        (shadow_altitude, shadow_azimuth),
        direct * (1.0 - 0.97 * cover),
    )


_PERCENTS: Final = (
    "cloudiness", "precipitation", "precipitation_deposits", "wind_intensity", "fog_density", "wetness", "dust_storm",
)  # fmt: skip


@lru_cache(maxsize=1)
def noise_texture() -> UInt8:
    """Return a (512, 512) uint8 texture of fractal noise with mean 128 that tiles seamlessly."""
    rng = np.random.default_rng(20241)
    white = rng.standard_normal((NOISE_SIZE, NOISE_SIZE))
    frequency = np.hypot(np.fft.fftfreq(NOISE_SIZE)[:, None], np.fft.rfftfreq(NOISE_SIZE)[None, :]) * NOISE_SIZE
    values, inverse = np.unique(np.maximum(frequency, 2.0), return_inverse=True)
    falloff = np.array([value**0.85 for value in values.tolist()])  # not by NumPy: its powers differ between processors
    spectrum = np.fft.rfft2(white) / falloff[inverse].reshape(frequency.shape)
    field = np.fft.irfft2(spectrum, s=(NOISE_SIZE, NOISE_SIZE))
    texture: UInt8 = np.clip(128 + 52 * (field - field.mean()) / field.std(), 0, 255).astype(np.uint8)
    return texture
