"""The pedestrians' navigation mesh of the loaded town, as a file that clients cache."""

import hashlib
import threading

from headless_simulator.carla.navmesh import build_mesh
from headless_simulator.scene import Town
from headless_simulator.world.world import World


class Navigation:
    """Builds a town's navigation mesh on its first request.

    Args:
        world: the world with the loaded town.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._cached: tuple[Town, str, bytes] | None = None
        self._lock = threading.Lock()

    def file(self) -> tuple[str, bytes]:
        """Return name and content of the mesh; the first call takes seconds and must not hold the world's lock."""
        with self._lock:
            town = self._world.town
            if self._cached is None or self._cached[0] is not town:
                content = build_mesh(town.walk_polygons)
                self._cached = town, file_name(town.name, content), content
            return self._cached[1], self._cached[2]


def file_name(town_name: str, content: bytes) -> str:
    """Name the mesh by its content, because clients cache files by name indefinitely."""
    return f"Carla/Maps/Nav/{town_name}-{hashlib.sha256(content).hexdigest()[:10]}.bin"
