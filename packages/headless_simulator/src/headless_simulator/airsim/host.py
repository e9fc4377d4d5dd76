"""The AirSim server's needs of the world it flies in; the CARLA server's world gives them, tests give a small one."""

from collections.abc import Mapping
from typing import Protocol

from headless_simulator.scene import Float32, Float64, Movers, RenderedImage, Town, UInt8, UInt32, View, Weather

Pose6 = tuple[float, float, float, float, float, float]  # x, y, z metres, pitch, yaw, roll degrees, Unreal's axes


class RendererLike(Protocol):
    """Draws images and casts rays; safe to call from several threads at once."""

    def render(
        self,
        view: View,
        movers: Movers,
        *,
        weather: Weather,
        signals: UInt8,
        time_s: float,
        want_bgra: bool,
        want_normal: bool = False,
    ) -> RenderedImage:
        """Draw ``movers`` in the town as seen from ``view``."""
        ...

    def cast(
        self, origins_m: Float64, directions: Float64, max_range_m: float, movers: Movers
    ) -> tuple[Float32, UInt32, UInt8, Float32]:
        """Send rays through the same triangles; see ``Renderer.cast``."""
        ...


class ModelsLike(Protocol):
    """Model numbers and boxes of everything that moves."""

    def number(self, blueprint: str) -> int:
        """Return the model number of a blueprint id."""
        ...

    def scaled_number(self, blueprint: str, scale: tuple[float, float, float]) -> int:
        """Return the model number of a blueprint id at a scale."""
        ...

    def half_extent(self, blueprint: str) -> tuple[float, float, float]:
        """Return the half extents of its box, metres."""
        ...

    def box_offset(self, blueprint: str) -> tuple[float, float, float]:
        """Return the centre of its box in the actor's frame, metres."""
        ...


class AirSimHost(Protocol):
    """The world as the AirSim server sees it.

    Every method may be called from any thread. ``movers`` and ``actor_types`` describe the same tick when they are called
    one after the other between two ticks; an id that is in one only is left out by the server.
    """

    @property
    def town(self) -> Town:
        """The static town."""
        ...

    @property
    def renderer(self) -> RendererLike:
        """The renderer that CARLA's cameras use too."""
        ...

    @property
    def models(self) -> ModelsLike:
        """The meshes and boxes behind the blueprint ids."""
        ...

    @property
    def weather(self) -> Weather:
        """The weather now."""
        ...

    @property
    def frame(self) -> int:
        """Number of the world's last tick."""
        ...

    @property
    def time_s(self) -> float:
        """The world's own simulated time, for flickering lights and falling rain."""
        ...

    def movers(self) -> Movers:
        """Everything that CARLA moves, at its last tick."""
        ...

    def actor_types(self) -> Mapping[int, str]:
        """Blueprint id of each actor id in ``movers``."""
        ...

    def signals(self) -> UInt8:
        """Return the (L,) uint8 state of every traffic light: 0 red, 1 yellow, 2 green, 3 off."""
        ...

    def set_weather(self, weather: Weather) -> None:
        """Change the weather for both ports."""
        ...

    def place_actor(self, actor_id: int, pose: Pose6) -> bool:
        """Teleport a CARLA actor; False when it does not exist."""
        ...
