"""RPC methods about traffic lights, and the lights of the town."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headless_simulator.carla import values
from headless_simulator.carla.registry import method
from headless_simulator.carla.values import CallFailed
from headless_simulator.world.actors import Actor
from headless_simulator.world.table import LIGHT

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer


def _light(server: CarlaServer, actor_id: int) -> Actor:
    actor = server.world.actor(actor_id)
    if actor.kind != LIGHT:
        raise CallFailed(f"actor {actor_id} is a {actor.blueprint}, not a traffic light")
    return actor


@method("set_traffic_light_state", void=True)
def set_traffic_light_state(server: CarlaServer, actor_id: int, state: int) -> None:
    """Set one light; its junction takes it back at its next change of phase."""
    light = _light(server, actor_id)
    if values.integer(state) not in range(5):
        raise CallFailed(f"traffic light state {state} is not 0 to 4")
    server.world.signal_state.force(light.number, min(state, 3))


@method("set_traffic_light_green_time", void=True)
def set_traffic_light_green_time(server: CarlaServer, actor_id: int, seconds: float) -> None:
    """Seconds of green."""
    server.world.signal_state.lamps[_light(server, actor_id).number].green_s = values.number(seconds)


@method("set_traffic_light_yellow_time", void=True)
def set_traffic_light_yellow_time(server: CarlaServer, actor_id: int, seconds: float) -> None:
    """Seconds of yellow."""
    server.world.signal_state.lamps[_light(server, actor_id).number].yellow_s = values.number(seconds)


@method("set_traffic_light_red_time", void=True)
def set_traffic_light_red_time(server: CarlaServer, actor_id: int, seconds: float) -> None:
    """Seconds in which all lights of the junction are red before the next one's turn."""
    server.world.signal_state.lamps[_light(server, actor_id).number].red_s = values.number(seconds)


@method("freeze_traffic_light", void=True)
def freeze_traffic_light(server: CarlaServer, actor_id: int, on: bool) -> None:
    """Freeze every light, as CARLA does."""
    _light(server, actor_id)
    server.world.signal_state.frozen = values.flag(on)


@method("freeze_all_traffic_lights", void=True)
def freeze_all_traffic_lights(server: CarlaServer, on: bool) -> None:
    """Freeze every light."""
    server.world.signal_state.frozen = values.flag(on)


@method("reset_traffic_light_group", void=True)
def reset_traffic_light_group(server: CarlaServer, actor_id: int) -> None:
    """Start the cycle of a light's junction anew."""
    server.world.signal_state.reset_group(_light(server, actor_id).number)


@method("reset_all_traffic_lights", void=True)
def reset_all_traffic_lights(server: CarlaServer) -> None:
    """Start every cycle anew, and with it every clock that images depend on."""
    server.world.restart_scene()


@method("get_group_traffic_lights")
def get_group_traffic_lights(server: CarlaServer, actor_id: int) -> list[int]:
    """Ids of the lights of one junction."""
    number = _light(server, actor_id).number
    return [server.world.lights[n].actor_id for n in server.world.signal_state.group_of(number)]


@method("get_light_boxes")
def get_light_boxes(server: CarlaServer, actor_id: int) -> list[Any]:
    """World boxes of the lamps' housing."""
    x, y, z, _, yaw, _ = server.world.town.signals[_light(server, actor_id).number].pose
    return [[[x, y, z + 3.0], [0.2, 0.2, 0.5], [0.0, yaw, 0.0], actor_id]]


@method("query_lights_state")
def query_lights_state(_server: CarlaServer, _client: str) -> list[Any]:
    """Street lights that clients can switch: none."""
    return []


@method("update_lights_state", void=True)
def update_lights_state(_server: CarlaServer, *_what: Any) -> None:
    """Accepted: there are no street lights to switch."""


@method("update_day_night_cycle", void=True)
def update_day_night_cycle(_server: CarlaServer, *_what: Any) -> None:
    """Accepted: there are no street lights to switch."""
