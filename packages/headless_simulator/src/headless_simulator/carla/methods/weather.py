"""Methods about the weather."""

from dataclasses import fields
from operator import attrgetter
from typing import Final

from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.rpc.arguments import Numbers
from headless_simulator.scene import Weather
from headless_simulator.world.world import World

_FIELDS: Final = 14
_parameters: Final = attrgetter(*(field.name for field in fields(Weather)))  # a Traffic Manager asks at every tick


def get_weather_parameters(world: World) -> list[float]:
    """Return the 14 weather parameters."""
    return list(_parameters(world.weather))


def set_weather_parameters(world: World, parameters: Numbers) -> None:
    """Set the weather; missing trailing fields keep their defaults."""
    world.set_weather(Weather(*parameters[:_FIELDS]))


def is_weather_enabled(_world: World) -> bool:
    """Return whether clients can change the weather; a method of CARLA 0.10, where towns have no weather."""
    return False


METHODS: Final[tuple[CarlaMethod[World], ...]] = declared(__name__)
