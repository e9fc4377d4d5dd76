"""Word lists that planning and writing share, said once."""

from __future__ import annotations

from typing import Final

__all__ = ["UAV3D_CARS", "WEATHER_PARAMETERS"]

UAV3D_CARS: Final = (
    "vehicle.audi.a2",
    "vehicle.audi.etron",
    "vehicle.audi.tt",
    "vehicle.bmw.grandtourer",
    "vehicle.chevrolet.impala",
    "vehicle.citroen.c3",
    "vehicle.dodge_charger.police",
    "vehicle.jeep.wrangler_rubicon",
    "vehicle.lincoln.mkz2017",
    "vehicle.mercedes-benz.coupe",
    "vehicle.mini.cooperst",
    "vehicle.mustang.mustang",
    "vehicle.nissan.micra",
    "vehicle.nissan.patrol",
    "vehicle.seat.leon",
    "vehicle.tesla.model3",
    "vehicle.toyota.prius",
)
"""By their names in CARLA 0.9.10, which UAV3D's files use. The paper counts 17 classes and lists them nowhere: these are
the 27 of its tracking code less the two-wheelers and what CARLA's own traffic script leaves out as unsafe."""

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
