"""Shadow maps: the height of the highest obstacle on every sun ray through the ground plane.

A point (x, y, z) lies on the ray through (x - z cot_x, y - z cot_y) of the plane z = 0, at any height; it is in shadow
if the map has a greater height there. The town's part depends on the sun alone. Each tick gets a copy with its movers
drawn on top.
"""

import threading
from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.render.height_kernels import draw_mover_heights, draw_town_heights
from headless_simulator.render.light import direction_to_sun
from headless_simulator.render.pack import ModelPack
from headless_simulator.render.tiles import StaticScene
from headless_simulator.scene import TAG, Float32, Float64, Int32, Movers, UInt16

_TEXEL_M: Final = 0.2
_MOST_TEXELS: Final = 12_000_000
_FLAT: Final = np.array(
    [TAG[name] for name in ("road", "sidewalk", "road_line", "ground", "terrain", "water", "rail_track")]
)

# Frame of a map: shear x, y; origin x, y; texels per metre; columns, rows; lowest height; steps per metre; metres of height
# per texel, times tilt over the cosine to the sun.
FRAME_NUMBERS: Final = 10
NO_HEIGHTS: Final[UInt16] = np.zeros(4, dtype=np.uint16)
NO_FRAME: Final[Float32] = np.zeros(FRAME_NUMBERS, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _TownMap:
    """The shadow map of the town without movers, for one direction of the sun."""

    sun_deg: tuple[float, float]
    frame: Float32
    heights: UInt16


@dataclass(frozen=True, slots=True, eq=False)
class _TickMap:
    """The shadow map of the town with the movers of one tick."""

    town: _TownMap
    movers: Movers
    heights: UInt16


class ShadowMaps:
    """Shadow maps of one town; thread-safe. The maps of the last sun and the last tick are cached."""

    def __init__(self, scene: StaticScene) -> None:
        self._scene = scene
        self._casters = np.flatnonzero(~np.isin(scene.tag, _FLAT)).astype(np.int32)
        self._lock = threading.Lock()
        self._town: _TownMap | None = None
        self._tick: _TickMap | None = None

    def of(
        self, sun_deg: tuple[float, float], movers: Movers, world: Float64, model: Int32, models: ModelPack
    ) -> tuple[UInt16, Float32]:
        """Return the shadow map of a tick.

        Args:
            sun_deg: altitude above 0 and azimuth.
            movers: the tick's movers; the object's identity is the cache key.
            world: (N, 3, 4) float64 from each mover's frame to the world.
            model: (N,) int32 row of each mover's model in ``models``.
            models: the packed models.

        Returns:
            (rows * columns,) uint16 heights and the (10,) float32 frame of the map; do not write to them.
        """
        with self._lock:
            town = self._town_map(sun_deg)
            if self._tick is None or self._tick.town is not town or self._tick.movers is not movers:
                self._tick = None  # frees the old map before the new one is made
                heights = town.heights.copy()
                draw_mover_heights(
                    heights, town.frame, world, model, models.points_m, models.corners, models.first_point,
                    models.first_triangle,
                )  # fmt: skip
                self._tick = _TickMap(town, movers, heights)
            return self._tick.heights, town.frame

    def _town_map(self, sun_deg: tuple[float, float]) -> _TownMap:
        if self._town is None or self._town.sun_deg != sun_deg:
            self._town = self._tick = None  # frees the old maps before the new one is made
            frame, columns, rows = self._frame(sun_deg)
            heights = np.zeros(columns * rows, dtype=np.uint16)
            draw_town_heights(heights, frame, self._scene.points_m, self._scene.corners, self._casters)
            self._town = _TownMap(sun_deg, frame, heights)
        return self._town

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
