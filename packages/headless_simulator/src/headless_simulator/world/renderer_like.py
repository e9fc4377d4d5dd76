"""Protocol of the world's renderer."""

from collections.abc import Mapping
from typing import Protocol, Self

from headless_simulator.scene import Float32, Float64, Movers, RenderedImage, Tile, UInt8, UInt32, View, Weather


class RendererLike(Protocol):
    """Draws images and casts rays; thread-safe."""

    def render(
        self, view: View, movers: Movers, *, weather: Weather, signals: UInt8, time_s: float, want_bgra: bool,
        want_normal: bool = False, want_base: bool = False,
    ) -> RenderedImage:  # fmt: skip
        """Draw ``movers`` in the town as seen from ``view``; ``signals`` is the (L,) uint8 state of the traffic lights."""
        ...

    def cast(
        self, origins_m: Float64, directions: Float64, max_range_m: float, movers: Movers
    ) -> tuple[Float32, UInt32, UInt8, Float32]:
        """Cast (N, 3) rays, metres; returns (N,) distance, id, tag and cosine of incidence of the first hits."""
        ...

    def without(self, object_ids: frozenset[int]) -> Self:
        """Return a renderer of the same town without some static objects."""
        ...

    def untagged(self, tags: frozenset[int]) -> Self:
        """Return a renderer of the same town without static meshes of some semantic tags."""
        ...

    def painted(self, colours: Mapping[int, tuple[int, int, int]], lamps: Mapping[int, float]) -> Self:
        """Return a renderer of the same town with changed colours of static objects and brightness of lamps."""
        ...

    def streamed(self, tiles: frozenset[Tile]) -> Self:
        """Return a renderer of the same town with some tiles only."""
        ...
