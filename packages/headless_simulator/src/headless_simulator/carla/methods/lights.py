"""Methods about traffic lights and street lights."""

from dataclasses import replace
from typing import Any, Final

from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.carla.values import ActorId, Lamps
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Anything, Flag, Integer, Number, Text
from headless_simulator.towns.furniture import lamp_boxes
from headless_simulator.world.actors import Actor
from headless_simulator.world.table import LIGHT
from headless_simulator.world.world import World


def _light(world: World, actor_id: int) -> Actor:
    actor = world.actor(actor_id)
    if actor.kind != LIGHT:
        raise CallRefused(f"actor {actor_id} is a {actor.blueprint}, not a traffic light")
    return actor


def set_traffic_light_state(world: World, actor_id: ActorId, state: Integer) -> None:
    """Set one light; its junction overrides it at its next phase change."""
    light = _light(world, actor_id)
    if state not in range(5):
        raise CallRefused(f"traffic light state must be 0 to 4, not {state}")
    world.signal_state.force(light.number, min(state, 3))


def set_traffic_light_green_time(world: World, actor_id: ActorId, seconds: Number) -> None:
    """Set the green time, seconds."""
    world.signal_state.green_s[_light(world, actor_id).number] = seconds


def set_traffic_light_yellow_time(world: World, actor_id: ActorId, seconds: Number) -> None:
    """Set the yellow time, seconds."""
    world.signal_state.yellow_s[_light(world, actor_id).number] = seconds


def set_traffic_light_red_time(world: World, actor_id: ActorId, seconds: Number) -> None:
    """Set the all-red time of the junction between two greens, seconds."""
    world.signal_state.red_s[_light(world, actor_id).number] = seconds


def freeze_traffic_light(world: World, actor_id: ActorId, on: Flag) -> None:
    """Freeze every light, as CARLA does."""
    _light(world, actor_id)
    world.signal_state.frozen = on


def freeze_all_traffic_lights(world: World, on: Flag) -> None:
    """Freeze every light."""
    world.signal_state.frozen = on


def reset_traffic_light_group(world: World, actor_id: ActorId) -> None:
    """Restart the cycle of a light's junction."""
    world.signal_state.reset_group(_light(world, actor_id).number)


def reset_all_traffic_lights(world: World) -> None:
    """Restart every cycle, and every clock that images depend on."""
    world.restart_scene()


def get_group_traffic_lights(world: World, actor_id: ActorId) -> list[int]:
    """Return the ids of the lights of one junction."""
    number = _light(world, actor_id).number
    return [world.lights[n].actor_id for n in world.signal_state.group_of(number)]


def get_light_boxes(world: World, actor_id: ActorId) -> list[Any]:
    """Return world boxes of a light's lamps: red, yellow and green of each head."""
    head = world.town.signals[_light(world, actor_id).number]
    turn = [0.0, head.pose[4], 0.0]
    return [[middle.tolist(), half.tolist(), turn, actor_id] for middle, half in lamp_boxes(head)]


def query_lights_state(world: World, _client: Text) -> list[Any]:
    """Return the switchable street lights: [id, location, intensity, group, colour, is_on]."""
    night = world.weather.sun_altitude_angle < 0.0
    return [
        [
            lamp.light_id,
            list(lamp.place_m),
            lamp.intensity_lm,
            lamp.group,
            list(lamp.colour),
            night if lamp.is_on is None else lamp.is_on,
        ]
        for lamp in world.scenery.street_lights.states()
    ]


def update_lights_state(world: World, _client: Text, lights: Lamps, *_discard: Anything) -> None:
    """Switch street lights."""
    world.scenery.switch(lights)


def update_day_night_cycle(world: World, _client: Text, active: Flag) -> None:
    """Switch street lights automatically at dusk and dawn, or keep their current state."""
    night = world.weather.sun_altitude_angle < 0.0
    lights = world.scenery.street_lights.states()
    world.scenery.switch(
        replace(lamp, is_on=None if active else night if lamp.is_on is None else lamp.is_on) for lamp in lights
    )


METHODS: Final[tuple[CarlaMethod[World], ...]] = declared(__name__)
