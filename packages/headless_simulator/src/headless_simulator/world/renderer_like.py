"""The world's needs of what draws its images and casts its rays."""

from collections.abc import Mapping
from typing import Protocol, Self

from headless_simulator.scene import Float32, Float64, Movers, RenderedImage, Tile, UInt8, UInt32, View, Weather


class RendererLike(Protocol):
    """Draws one image; safe to call from several threads at once."""

    def render(
        self, view: View, movers: Movers, *, weather: Weather, signals: UInt8, time_s: float, want_bgra: bool,
        want_normal: bool = False, want_base: bool = False, into: RenderedImage | None = None,
    ) -> RenderedImage:  # fmt: skip
        """Draw ``movers`` in the town as seen from ``view``."""
        ...

    def cast(
        self, origins_m: Float64, directions: Float64, max_range_m: float, movers: Movers
    ) -> tuple[Float32, UInt32, UInt8, Float32]:
        """Send rays: distance, id, tag and cosine of incidence of what each meets first."""
        ...

    def without(self, object_ids: frozenset[int]) -> Self:
        """Give a renderer of the same town without some of its static objects."""
        ...

    def untagged(self, tags: frozenset[int]) -> Self:
        """Give a renderer of the masks of the same town in which nothing static has some classes."""
        ...

    def painted(self, colours: Mapping[int, tuple[int, int, int]], lamps: Mapping[int, float]) -> Self:
        """Give a renderer of the same town in which some static objects have other colours, and lamps other light."""
        ...

    def streamed(self, tiles: frozenset[Tile]) -> Self:
        """Give a renderer of the same town of which only some tiles are there."""
        ...
