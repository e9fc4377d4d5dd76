"""Protocols of the world that the AirSim server needs: CARLA's world implements them, and tests use a small one."""

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
        """Draw ``movers`` in the town as seen from ``view``; ``signals`` is the (L,) state of the traffic lights."""
        ...

    def cast(
        self, origins_m: Float64, directions: Float64, max_range_m: float, movers: Movers
    ) -> tuple[Float32, UInt32, UInt8, Float32]:
        """Cast (N, 3) rays, Unreal's axes, metres, through the drawn triangles; see ``Renderer.cast``."""
        ...


class ModelsLike(Protocol):
    """Model numbers and boxes of movable blueprints."""

    def number(self, blueprint: str) -> int:
        """Return the model number of a blueprint id."""
        ...

    def scaled_number(self, blueprint: str, scale: tuple[float, float, float]) -> int:
        """Return the model number of a blueprint id at a scale."""
        ...

    def half_extent(self, blueprint: str) -> tuple[float, float, float]:
        """Return the half extents x, y, z of its box, metres."""
        ...

    def box_offset(self, blueprint: str) -> tuple[float, float, float]:
        """Return the centre of its box in the actor's frame, metres."""
        ...


class AirSimHost(Protocol):
    """The world interface of the AirSim server.

    Every method may be called from any thread. ``movers`` and ``actor_types`` describe the same tick when called in
    succession between two ticks; the server omits an id that is in only one of them.
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
        """The current weather."""
        ...

    @property
    def frame(self) -> int:
        """Number of the world's last tick."""
        ...

    @property
    def time_s(self) -> float:
        """The world's simulated time, seconds, for flickering lights and falling rain."""
        ...

    def movers(self) -> Movers:
        """CARLA's movable actors at the last tick."""
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
        """Teleport a CARLA actor (Unreal's axes, metres, degrees); False if it does not exist."""
        ...
