"""``flight_plans/weather/*.yaml``: a weather, still or changing over the scene."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from uavsim.config.base import Model, Name, Seconds, Text

__all__ = ["Weather", "WeatherState"]

Percent = Annotated[float, Field(ge=0, le=100)]
Amount = Annotated[float, Field(ge=0, le=1000)]


class WeatherState(Model):
    """A CARLA preset and the differences from it."""

    preset: Name | None = None
    """A preset of CARLA by its name: ClearNoon, HardRainSunset, ... ClearNoon by default."""
    cloudiness: Percent | None = None
    precipitation: Percent | None = None
    precipitation_deposits: Percent | None = None
    """Puddles."""
    wind_intensity: Percent | None = None
    sun_azimuth_angle: Annotated[float, Field(ge=-360, le=360)] | None = None
    sun_altitude_angle: Annotated[float, Field(ge=-90, le=90)] | None = None
    """The time of day: 90 is noon at the equator, 0 sunrise or sunset, below 0 night."""
    fog_density: Percent | None = None
    fog_distance: Amount | None = None
    """Metres from the camera at which fog starts."""
    fog_falloff: Amount | None = None
    wetness: Percent | None = None
    scattering_intensity: Amount | None = None
    mie_scattering_scale: Amount | None = None
    rayleigh_scattering_scale: Amount | None = None
    dust_storm: Percent | None = None


class Weather(WeatherState):
    """A weather that stays, or one that changes from ``from`` to ``to``."""

    drawable: ClassVar = (*(name for name in WeatherState.model_fields if name != "preset"), "from", "to")

    from_: Annotated[WeatherState | None, Field(alias="from")] = None
    to: WeatherState | None = None
    start_s: Seconds = 0.0
    """Start of the change after the scene's first image."""
    end_s: Seconds | None = None
    """End of the change; the scene's end by default."""
    notes: Text = ""

    @model_validator(mode="after")
    def _check_constant_or_changing(self) -> Self:
        still = [key for key in WeatherState.model_fields if getattr(self, key) is not None]
        changing = bool(self.model_fields_set & {"from_", "to", "start_s", "end_s"})
        if changing and still:
            raise ValueError(f"{still[0]} must be inside from and to when the weather changes")
        if changing and (self.from_ is None or self.to is None):
            raise ValueError("a change needs both from and to")
        return self

    @model_validator(mode="after")
    def _check_end_after_start(self) -> Self:
        if self.end_s is not None and self.end_s <= self.start_s:
            raise ValueError(f"end_s={self.end_s:g} is not after start_s={self.start_s:g}")
        return self
