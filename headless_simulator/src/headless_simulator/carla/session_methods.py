"""RPC methods about the server itself: version, episode, clock, maps, files and the Traffic Manager's address book."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from headless_simulator.carla import values, wire
from headless_simulator.carla.blueprints import DEFINITIONS
from headless_simulator.carla.registry import method
from headless_simulator.carla.values import CallFailed
from headless_simulator.world.scenery import MapLayer

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

EPISODE_STREAM = 1


@method("version")
def version(server: CarlaServer) -> str:
    """Version of the protocol that is spoken."""
    return server.faults.version(wire.VERSION)


@method("get_episode_info")
def get_episode_info(server: CarlaServer) -> list[Any]:
    """Episode number and where its snapshots stream."""
    return [server.world.episode, [server.token(EPISODE_STREAM)]]


@method("get_sensor_token")
def get_sensor_token(server: CarlaServer, stream_id: int) -> list[Any]:
    """Where a sensor streams; the client connects there next."""
    number = values.integer(stream_id, what="stream id") & 0xFFFFFFFF
    if server.sensors.has_stream(number):
        server.streams.expect(number)
    return [server.token(number)]


@method("get_episode_settings")
def get_episode_settings(server: CarlaServer) -> list[Any]:
    """The clock's settings."""
    return server.settings.wire()


@method("set_episode_settings")
def set_episode_settings(server: CarlaServer, settings: list[Any]) -> int:
    """Change the clock's settings; answers with a frame that was sent already."""
    server.settings = server.settings.changed(settings)
    return server.world.frame


@method("tick_cue")
def tick_cue(server: CarlaServer) -> int:
    """Advance by one tick when a client owns the clock."""
    if server.settings.synchronous:
        return server.tick()
    return server.world.frame + 1


@method("get_available_maps")
def get_available_maps(server: CarlaServer) -> list[str]:
    """Every map that can be loaded."""
    return [f"/Game/Carla/Maps/{name}" for name in server.towns.names()]


@method("get_map_info")
def get_map_info(server: CarlaServer) -> list[Any]:
    """Name and recommended spawn points."""
    town = server.world.town
    name = server.faults.map_name(town.name)
    return [f"Carla/Maps/{name}", [values.pose_wire(pose) for pose in town.spawn_points.tolist()]]


@method("get_map_data")
def get_map_data(server: CarlaServer) -> str:
    """The OpenDRIVE text."""
    return server.world.town.opendrive


@method("get_navigation_mesh")
def get_navigation_mesh(server: CarlaServer) -> bytes:
    """The pedestrians' mesh."""
    return server.navigation()[1]


@method("get_required_files")
def get_required_files(server: CarlaServer, folder: str = "", _download: bool = True) -> list[str]:
    """Files that a client wants to have: the pedestrians' mesh."""
    return [server.navigation()[0]] if values.text(folder) == "Nav" else []


@method("request_file")
def request_file(server: CarlaServer, name: str) -> bytes:
    """One of the files above."""
    known, content = server.navigation()
    return content if values.text(name).endswith(known) else b""


@method("get_actor_definitions")
def get_actor_definitions(_server: CarlaServer) -> list[Any]:
    """The blueprint library."""
    return DEFINITIONS


@method("load_new_episode", void=True)
def load_new_episode(server: CarlaServer, name: str, reset: bool = True, layers: int = 0xFFFF) -> None:
    """Load some layers of a map; an empty name loads the present one anew."""
    wanted = MapLayer(values.integer(layers) & MapLayer.ALL)
    server.load(values.text(name), reset_settings=values.flag(reset), layers=wanted)


@method("copy_opendrive_to_file", void=True)
def copy_opendrive_to_file(server: CarlaServer, text: str, _parameters: list[Any]) -> None:
    """Take an OpenDRIVE text that the next ``load_new_episode("OpenDriveMap")`` opens."""
    server.towns.take_opendrive(values.text(text))


@method("get_spectator")
def get_spectator(server: CarlaServer) -> list[Any]:
    """The spectator actor; its attribute ``simulator`` says that this is no Unreal."""
    return server.actor_wire(server.world.spectator)


@method("is_traffic_manager_running")
def is_traffic_manager_running(server: CarlaServer, port: int) -> bool:
    """Whether a Traffic Manager is registered under a port."""
    return values.integer(port) in server.traffic_managers


@method("get_traffic_manager_running")
def get_traffic_manager_running(server: CarlaServer, port: int) -> list[Any]:
    """Where the Traffic Manager of a port answers."""
    host = server.traffic_managers.get(values.integer(port))
    return [host or "", port if host else 0]


@method("add_traffic_manager_running")
def add_traffic_manager_running(server: CarlaServer, where: list[Any]) -> bool:
    """Register a Traffic Manager; False when the port has one."""
    host, port = values.items(where, least=2)[:2]
    port = values.integer(port)
    if port in server.traffic_managers:
        return False
    if len(server.traffic_managers) >= 1024:
        raise CallFailed("there are 1,024 traffic managers already")
    server.traffic_managers[port] = values.text(host)
    return True


@method("destroy_traffic_manager")
def destroy_traffic_manager(server: CarlaServer, port: int) -> bool:
    """Forget a Traffic Manager."""
    return server.traffic_managers.pop(values.integer(port), None) is not None


def navigation_file(town_name: str, content: bytes) -> str:
    """Name the mesh by its content: clients keep files by name for ever."""
    return f"Carla/Maps/Nav/{town_name}-{hashlib.sha256(content).hexdigest()[:10]}.bin"
