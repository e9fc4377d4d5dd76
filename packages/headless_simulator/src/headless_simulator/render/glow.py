"""Lamp light on the ground at night: static pools under lamp posts, and cones of head lights.

The town's pools are computed once; a tick's cones are added to a copy that all views of the tick share.
"""

# ruff: noqa: PLR0917 (kernels take their buffers by place)
from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.jit import Number, kernel
from headless_simulator.render.lanes import BESIDE, BIAS, BLUE, GRAIN, GREEN, RED, UPRIGHT, X, Y, Z
from headless_simulator.render.tiles import StaticScene
from headless_simulator.scene import STATIC_ID, TAG, Float32, Float64, Movers, UInt32

_CELL_M: Final = 0.5
_MOST_CELLS: Final = 6_000_000
_BRIGHT: Final = 0.45  # linear albedo; only lamp shades are this bright
_F = np.float32
NO_GLOW: Final[Float32] = np.zeros((2, 2), dtype=np.float32)
NO_GLOW_FRAME: Final[Float32] = np.zeros(3, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Night:
    movers: Movers
    glow: Float32


class GlowMaps:
    """Lamp light of one town; thread-safe. A frame is origin x, y (metres) and cells per metre.

    Args:
        scene: the town.
        shares: brightness factor by number of lamp post; 1 for all others.
    """

    def __init__(self, scene: StaticScene, shares: Mapping[int, float] | None = None) -> None:
        self._scene, self._shares = scene, dict(shares or {})
        self._lock = threading.Lock()
        self._town: Float32 | None = None
        self._frame: Float32 = NO_GLOW_FRAME
        self._night: _Night | None = None

    def of_scene(self, scene: StaticScene) -> GlowMaps:
        """Return glow maps of the same lamps for another state of the town."""
        return GlowMaps(scene, self._shares)

    def of(self, movers: Movers, world: Float64, reach_m: Float64) -> tuple[Float32, Float32]:
        """Return the (Y, X) float32 map of a tick and its (3,) float32 frame.

        Args:
            movers: the tick's movers; the object's identity is the cache key.
            world: (N, 3, 4) from each mover's frame to the world.
            reach_m: (N,) distance of each mover's front from its origin.
        """
        with self._lock:
            if self._town is None:
                self._town, self._frame = _pools(self._scene, self._shares)
            if self._night is None or self._night.movers is not movers:
                glow = self._town.copy()
                add_cones(glow, self._frame, world, reach_m, movers.lights)
                self._night = _Night(movers, glow)
            return self._night.glow, self._frame


def _pools(scene: StaticScene, shares: Mapping[int, float]) -> tuple[Float32, Float32]:
    """Return the light under lamp posts: objects of tag pole with a pale part."""
    standing = np.flatnonzero((scene.tag != TAG["terrain"]) & (scene.tag != TAG["ground"]))
    if not len(standing):
        return NO_GLOW.copy(), np.array([0, 0, 1], dtype=np.float32)
    points = scene.points_m[:, scene.corners[standing].reshape(-1)]
    low, high = points.min(axis=1)[:2] - 2.0, points.max(axis=1)[:2] + 2.0
    cell_m = max(_CELL_M, float(np.sqrt((high - low).prod() / _MOST_CELLS)))
    columns, rows = (int(n) for n in np.ceil((high - low) / cell_m) + 2)
    frame = np.array([low[0], low[1], 1.0 / cell_m], dtype=np.float32)
    glow = np.zeros((rows, columns), dtype=np.float32)
    pale = (scene.tag == TAG["pole"]) & (scene.surface[:, :3].min(axis=1) > _BRIGHT) & (scene.ids >= STATIC_ID)
    owners = scene.ids[pale]
    centre = scene.points_m.T[scene.corners[pale]].mean(axis=1).astype(np.float64)
    names, inverse = np.unique(owners, return_inverse=True)
    lamps = np.zeros((len(names), 4))
    for axis in range(3):
        lamps[:, axis] = np.bincount(inverse, weights=centre[:, axis]) / np.bincount(inverse)
    lamps[:, 3] = [shares.get(name, 1.0) for name in (names & ~np.uint32(STATIC_ID)).tolist()]
    add_pools(glow, frame, lamps)
    return glow, frame


@kernel()
def add_pools(glow: Float32, frame: Float32, lamps_m: Float64) -> None:
    """Add a pool of light below each of (L, 4) lamps (x, y, z in metres, brightness factor)."""
    rows, columns = glow.shape
    height, radius = 7.5, 16.0
    for n in range(lamps_m.shape[0]):
        u, v = (lamps_m[n, 0] - frame[0]) * frame[2], (lamps_m[n, 1] - frame[1]) * frame[2]
        wide = radius * frame[2]
        for row in range(max(0, int(v - wide)), min(rows, int(v + wide) + 1)):
            for column in range(max(0, int(u - wide)), min(columns, int(u + wide) + 1)):
                apart = ((column - u) ** 2 + (row - v) ** 2) / (frame[2] * frame[2])
                edge = max(0.0, 1.0 - apart / (radius * radius))
                glow[row, column] += _F(
                    lamps_m[n, 3] * 1.1 * edge * (height * height / (apart + height * height)) ** 1.5
                )


@kernel()
def add_cones(glow: Float32, frame: Float32, world: Float64, reach_m: Float64, lights: UInt32) -> None:
    """Add the light of every mover with low (2) or high beam (4) on.

    Args:
        glow: (rows, columns) float32 map, changed.
        frame: (3,) origin x, y and cells per metre.
        world: (N, 3, 4) from each mover's frame to the world.
        reach_m: (N,) distance of each mover's front from its origin.
        lights: (N,) uint32 VehicleLightState bits.
    """
    rows, columns = glow.shape
    for m in range(world.shape[0]):
        if not lights[m] & np.uint32(6) or reach_m[m] <= 0.0:
            continue
        far = 34.0 if lights[m] & np.uint32(4) else 22.0
        length = math.sqrt(world[m, 0, 0] ** 2 + world[m, 1, 0] ** 2) + 1e-9
        ax, ay = world[m, 0, 0] / length, world[m, 1, 0] / length
        fx, fy = world[m, 0, 3] + ax * reach_m[m], world[m, 1, 3] + ay * reach_m[m]
        if not math.isfinite(fx + fy):
            continue
        u0, u1 = (fx - far - frame[0]) * frame[2], (fx + far - frame[0]) * frame[2]
        v0, v1 = (fy - far - frame[1]) * frame[2], (fy + far - frame[1]) * frame[2]
        for row in range(max(0, int(v0)), min(rows, int(v1) + 1)):
            for column in range(max(0, int(u0)), min(columns, int(u1) + 1)):
                dx, dy = frame[0] + column / frame[2] - fx, frame[1] + row / frame[2] - fy
                along, across = dx * ax + dy * ay, abs(dy * ax - dx * ay)
                wide = 1.0 + 0.30 * along
                if 0.0 < along < far and across < wide:
                    side, end = 1.0 - (across / wide) ** 2, 1.0 - along / far
                    glow[row, column] += _F(1.3 * side * end * min(1.0, along * 0.4))


@kernel(assume_finite=True)
def look_lamps_up(lane: Float32, glow: Float32, frame: Float32, count: Number) -> None:
    """Fill BESIDE of ``count`` pixels with the (rows, columns) map's light on level ground; BIAS, UPRIGHT: scratch."""
    columns = np.int32(glow.shape[1])
    wide, high = _F(glow.shape[1] - 2), _F(glow.shape[0] - 2)
    from_x, from_y, per_m = frame[0], frame[1], frame[2]
    flat, integers = glow.reshape(-1), lane.view(np.int32)
    for i in range(count):
        u = min(max((lane[X + i] - from_x) * per_m, _F(0.0)), wide)
        v = min(max((lane[Y + i] - from_y) * per_m, _F(0.0)), high)
        iu, iv = np.int32(u), np.int32(v)
        lane[BIAS + i], lane[UPRIGHT + i] = u - _F(iu), v - _F(iv)
        integers[BESIDE + i] = iv * columns + iu
    for i in range(count):
        fu, fv, at = lane[BIAS + i], lane[UPRIGHT + i], np.uint32(integers[BESIDE + i])
        below = np.uint32(at + np.uint32(columns))
        upper = flat[at] * (_F(1.0) - fu) + flat[at + np.uint32(1)] * fu
        lower = flat[below] * (_F(1.0) - fu) + flat[below + np.uint32(1)] * fu
        lane[BESIDE + i] = upper + (lower - upper) * fv


@kernel(assume_finite=True)
def lamplight(lane: Float32, first: Number, last: Number, surface: Float32, up: Number, night: Number) -> None:
    """Add BESIDE's lamp light to the colour of pixels; ``surface`` is (3,) albedo, ``up`` the normal's z."""
    facing = night * (_F(0.35) + _F(0.65) * max(up, _F(0.0)))
    red, green, blue = surface[0], surface[1], surface[2]
    for i in range(first, last):
        low = min(max(_F(1.0) - (lane[Z + i] - _F(4.0)) * _F(0.2), _F(0.0)), _F(1.0))
        light = lane[BESIDE + i] * facing * low * lane[GRAIN + i]
        lane[RED + i] += red * light
        lane[GREEN + i] += green * light * _F(0.82)
        lane[BLUE + i] += blue * light * _F(0.56)
