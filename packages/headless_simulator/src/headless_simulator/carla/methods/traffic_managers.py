"""The registry of Traffic Managers, which run in clients."""

from typing import Any, Final

from headless_simulator.carla.episode import Episode
from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.carla.values import Endpoint
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Integer

_MOST_MANAGERS: Final = 1024


def is_traffic_manager_running(episode: Episode, port: Integer) -> bool:
    """Return whether a Traffic Manager is registered under a port."""
    return port in episode.traffic_managers


def get_traffic_manager_running(episode: Episode, port: Integer) -> list[Any]:
    """Return the address of a port's Traffic Manager."""
    host = episode.traffic_managers.get(port)
    return [host or "", port if host else 0]


def add_traffic_manager_running(episode: Episode, endpoint: Endpoint) -> bool:
    """Register a Traffic Manager; False if the port has one."""
    host, port = endpoint
    if port in episode.traffic_managers:
        return False
    if len(episode.traffic_managers) >= _MOST_MANAGERS:
        raise CallRefused(
            f"{_MOST_MANAGERS:,} traffic managers are registered, the maximum; end one of their clients first"
        )
    episode.traffic_managers[port] = host
    return True


def destroy_traffic_manager(episode: Episode, port: Integer) -> bool:
    """Unregister a Traffic Manager."""
    return episode.traffic_managers.pop(port, None) is not None


METHODS: Final[tuple[CarlaMethod[Episode], ...]] = declared(__name__)
