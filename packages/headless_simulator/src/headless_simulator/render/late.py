"""A renderer that is built when its first image or ray is requested."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from headless_simulator.render.renderer import Renderer
from headless_simulator.scene import Float32, RenderedImage, Tile, UInt8, UInt32


class LateRenderer:
    """Builds a ``Renderer`` on first use, since sorting a town's triangles takes about a second.

    Args:
        make: builds the renderer; called once at most.
    """

    def __init__(self, make: Callable[[], Renderer]) -> None:
        self._make: Callable[[], Renderer] = make
        self._renderer: Renderer | None = None
        self._lock = threading.Lock()

    def made(self) -> Renderer:
        """Return the renderer, and build it on the first call."""
        with self._lock:
            if self._renderer is None:
                self._renderer = self._make()
            return self._renderer

    def render(self, *arguments: Any, **options: Any) -> RenderedImage:
        """See ``Renderer.render``."""
        return self.made().render(*arguments, **options)

    def cast(self, *arguments: Any) -> tuple[Float32, UInt32, UInt8, Float32]:
        """See ``Renderer.cast``."""
        return self.made().cast(*arguments)

    def without(self, object_ids: frozenset[int]) -> LateRenderer:
        """See ``Renderer.without``."""
        return LateRenderer(lambda: self.made().without(object_ids)) if object_ids else self

    def streamed(self, tiles: frozenset[Tile]) -> LateRenderer:
        """See ``Renderer.streamed``."""
        return LateRenderer(lambda: self.made().streamed(tiles))

    def untagged(self, tags: frozenset[int]) -> LateRenderer:
        """See ``Renderer.untagged``."""
        return LateRenderer(lambda: self.made().untagged(tags))

    def painted(self, colours: Mapping[int, tuple[int, int, int]], lamps: Mapping[int, float]) -> LateRenderer:
        """See ``Renderer.painted``."""
        return LateRenderer(lambda: self.made().painted(colours, lamps)) if colours or lamps else self
