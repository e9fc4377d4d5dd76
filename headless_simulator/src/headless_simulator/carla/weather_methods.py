"""RPC methods about the weather."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from headless_simulator.carla import values
from headless_simulator.carla.registry import method
from headless_simulator.scene import Weather

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer


@method("get_weather_parameters")
def get_weather_parameters(server: CarlaServer) -> list[float]:
    """The 14 parameters."""
    return list(astuple(server.world.weather))


@method("set_weather_parameters", void=True)
def set_weather_parameters(server: CarlaServer, parameters: list[float]) -> None:
    """Set the weather; missing trailing fields keep their defaults."""
    server.world.set_weather(Weather(*(values.number(v) for v in values.items(parameters)[:14])))
