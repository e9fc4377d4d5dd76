"""Shadows: for every sun ray that meets the ground plane, the greatest height at which something stands in its way.

A point (x, y, z) lies on the ray through (x - z cot_x, y - z cot_y) of the plane z = 0, whatever its height; it is in
shadow when the map holds a greater height there. The town's part depends on the sun alone; movers are drawn over it
once per tick and taken off again, which what was below them serves for.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from headless_simulator.render.height_kernels import draw_mover_heights, draw_town_heights, restore_heights
from headless_simulator.render.light import direction_to_sun
from headless_simulator.render.pack import ModelPack
from headless_simulator.render.tiles import StaticScene
from headless_simulator.scene import TAG, Float32, Float64, Int32, Movers, UInt16

_TEXEL_M: Final = 0.2
_MOST_TEXELS: Final = 12_000_000
_FLAT: Final = np.array(
    [TAG[name] for name in ("road", "sidewalk", "road_line", "ground", "terrain", "water", "rail_track")]
)

# Frame of a map, as kernels take it: shear x, y; origin x, y; texels a metre; columns, rows; lowest height; steps a metre;
# metres of height that a texel is worth, times tilt over the cosine to the sun.
FRAME_NUMBERS: Final = 10
NO_HEIGHTS: Final[UInt16] = np.zeros(4, dtype=np.uint16)
NO_FRAME: Final[Float32] = np.zeros(FRAME_NUMBERS, dtype=np.float32)


@dataclass(slots=True, eq=False)
class _Layer:
    """A map with movers on it, and what to wipe them off with."""

    heights: UInt16
    stains: Int32 = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int32))
    kept: UInt16 = field(default_factory=lambda: np.zeros(0, dtype=np.uint16))
    movers: Movers | None = None
    users: int = 0

    def draw(self, movers: Movers, frame: Float32, world: Float64, model: Int32, models: ModelPack) -> None:
        """Put other movers on it."""
        room = len(self.kept)
        while True:
            self.wipe(self.heights, frame)
            self.kept = self.kept if room <= len(self.kept) else np.empty(room, dtype=np.uint16)
            self.stains = np.zeros((len(model), 5), dtype=np.int32)
            room = draw_mover_heights(
                self.heights, frame, world, model, models.points_m, models.corners, models.first_point,
                models.first_triangle, self.stains, self.kept,
            )  # fmt: skip
            if room <= len(self.kept):
                break
        self.movers = movers

    def wipe(self, heights: UInt16, frame: Float32) -> None:
        """Take its movers off its map, or off a copy of it."""
        restore_heights(heights, self.kept, self.stains, int(frame[5]))


@dataclass(slots=True, eq=False)
class _Sun:
    """Everything kept for one direction of the sun: a map for each tick that is drawn at once, of 24 MB in a large town."""

    deg: tuple[float, float]
    frame: Float32
    layers: list[_Layer]

    def free_layer(self) -> _Layer:
        """Return a map that nobody looks at; made where there is none."""
        layer = next((layer for layer in self.layers if layer.users == 0), None)
        if layer is None:
            layer = _Layer(self.layers[0].heights.copy())
            self.layers[0].wipe(layer.heights, self.frame)
            self.layers.append(layer)
        return layer


class ShadowMaps:
    """Shadow maps of one town; safe to share between threads."""

    def __init__(self, scene: StaticScene) -> None:
        self._scene = scene
        self._casters = np.flatnonzero(~np.isin(scene.tag, _FLAT)).astype(np.int32)
        self._lock = threading.Lock()
        self._sun: _Sun | None = None  # of the last one: there is one in the sky, and it moves in steps

    @contextmanager
    def of(
        self, sun_deg: tuple[float, float], movers: Movers, world: Float64, model: Int32, models: ModelPack
    ) -> Iterator[tuple[UInt16, Float32]]:
        """Give the map for a sun (altitude, azimuth) and the movers of a tick, with its frame.

        Args:
            sun_deg: altitude above 0 and azimuth.
            movers: their identity distinguishes one tick from the next.
            world: (N, 3, 4) of the movers.
            model: (N,) places in ``models``.
            models: the packed models.
        """
        with self._lock:
            sun = self._of(sun_deg)
            layer = next((layer for layer in sun.layers if layer.movers is movers), None)
            if layer is None:
                layer = sun.free_layer()
                layer.draw(movers, sun.frame, world, model, models)
            layer.users += 1
        try:
            yield layer.heights, sun.frame
        finally:
            with self._lock:
                layer.users -= 1

    def _of(self, sun_deg: tuple[float, float]) -> _Sun:
        if self._sun is None or self._sun.deg != sun_deg:
            self._sun = None  # before the next one takes as much
            frame, columns, rows = self._frame(sun_deg)
            town = np.zeros(columns * rows, dtype=np.uint16)
            draw_town_heights(town, frame, self._scene.points_m, self._scene.corners, self._casters)
            self._sun = _Sun(sun_deg, frame, [_Layer(town)])
        return self._sun

    def _frame(self, sun_deg: tuple[float, float]) -> tuple[Float32, int, int]:
        x, y, z = direction_to_sun(*sun_deg)
        shear = np.array([x / z, y / z])
        low, high = self._scene.bounds_m
        if len(self._casters):
            corners = self._scene.points_m[:, self._scene.corners[self._casters].reshape(-1)]
            low, high = np.minimum(low, corners.min(axis=1) - 12.0), corners.max(axis=1) + 12.0
            low[:2] = corners.min(axis=1)[:2] - 12.0
        reach = np.stack([corner[:2] - height * shear for corner in (low, high) for height in (low[2], 0.0, high[2])])
        origin, end = reach.min(axis=0), reach.max(axis=0)
        size_m = np.maximum(end - origin, 1.0)
        texel_m = max(_TEXEL_M, float(np.sqrt(size_m.prod() / _MOST_TEXELS)))
        columns, rows = (int(n) for n in np.ceil(size_m / texel_m) + 2)
        step_m = float(high[2] - low[2] + 4.0) / 65000.0
        slope_m = 1.3 * texel_m * z
        frame = np.array(
            [*shear, *origin, 1.0 / texel_m, columns, rows, low[2] - 1.0, 1.0 / step_m, slope_m], dtype=np.float32
        )
        return frame, columns, rows
