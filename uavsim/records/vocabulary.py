"""Word lists of planning and writing."""

from typing import Final

WEATHER_PARAMETERS: Final = (
    "cloudiness",
    "precipitation",
    "precipitation_deposits",
    "wind_intensity",
    "sun_azimuth_angle",
    "sun_altitude_angle",
    "fog_density",
    "fog_distance",
    "fog_falloff",
    "wetness",
    "scattering_intensity",
    "mie_scattering_scale",
    "rayleigh_scattering_scale",
    "dust_storm",
)
"""The 14 parameters in the order of ``carla.WeatherParameters`` on the wire."""
