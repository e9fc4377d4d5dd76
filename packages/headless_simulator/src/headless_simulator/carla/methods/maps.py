"""Methods about maps: list, content, files, loading."""

from dataclasses import dataclass
from typing import Any, Final

from headless_simulator.carla.caller import CALLER
from headless_simulator.carla.method import CarlaMethod, Traits, always, declared
from headless_simulator.carla.navigation import Navigation
from headless_simulator.carla.town_loader import TownLoader
from headless_simulator.carla.values import pose_wire
from headless_simulator.faults import Faults
from headless_simulator.rpc.arguments import Anything, Flag, Integer, Text
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.scenery import MapLayer
from headless_simulator.world.world import World


@dataclass(frozen=True, slots=True)
class MapContext:
    """The state used by these methods."""

    world: World
    towns: TownLibrary
    loader: TownLoader
    navigation: Navigation
    faults: Faults


def get_available_maps(context: MapContext) -> list[str]:
    """Return the loadable maps."""
    return [f"/Game/Carla/Maps/{name}" for name in context.towns.names()]


def get_map_info(context: MapContext) -> list[Any]:
    """Return the map's name and recommended spawn points."""
    town = context.world.town
    name = context.faults.map_name(town.name)
    return [f"Carla/Maps/{name}", [pose_wire(pose) for pose in town.spawn_points.tolist()]]


def get_map_data(context: MapContext) -> str:
    """Return the OpenDRIVE text."""
    return context.world.town.opendrive


def get_navigation_mesh(context: MapContext) -> bytes:
    """Return the pedestrians' navigation mesh."""
    return context.navigation.file()[1]


def get_required_files(context: MapContext, folder: Text = "", _download: Anything = True) -> list[str]:
    """Return the files that a client needs: the pedestrians' navigation mesh."""
    return [context.navigation.file()[0]] if folder == "Nav" else []


def request_file(context: MapContext, name: Text) -> bytes:
    """Return one of the required files."""
    known, content = context.navigation.file()
    return content if name.endswith(known) else b""


def load_new_episode(context: MapContext, name: Text, reset: Flag = True, layers: Integer = 0xFFFF) -> None:
    """Load layers of a map; an empty name reloads the current one."""
    context.loader.load_for(CALLER.get(), name, reset_settings=reset, layers=MapLayer(layers & MapLayer.ALL))


def copy_opendrive_to_file(context: MapContext, text: Text, _parameters: Anything) -> None:
    """Store an OpenDRIVE text for the next ``load_new_episode("OpenDriveMap")``."""
    context.towns.take_opendrive(text)


_UNLOCKED: Final = Traits(is_locked=False)  # building the mesh takes seconds: the world continues meanwhile
_LOADS: Final = Traits(is_void=True, is_locked=False, advances=always)
METHODS: Final[tuple[CarlaMethod[MapContext], ...]] = declared(
    __name__,
    get_navigation_mesh=_UNLOCKED,
    get_required_files=_UNLOCKED,
    request_file=_UNLOCKED,
    load_new_episode=_LOADS,
    copy_opendrive_to_file=_LOADS,
)
