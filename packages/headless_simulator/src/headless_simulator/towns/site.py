"""Free land for buildings and plants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.scene import Float64, Int32
from headless_simulator.towns.arrays import Bools
from headless_simulator.towns.ground import Land
from headless_simulator.towns.raster import draw
from headless_simulator.towns.water import River

_BESIDE_WATER_M: Final = 8.0
_CLEAR_M: Final = 0.5  # buildings keep this distance from roads and sidewalks
ORIGIN_FREE_M: Final = 12.0  # AirSim's drones take off at the origin: no tall object may be above it


@dataclass(slots=True, eq=False)
class Site:
    """The land with its occupancy: ``taken`` marks points of the fine grid."""

    land: Land
    river: River
    taken: Bools

    @classmethod
    def on(cls, land: Land, river: River) -> Site:
        """Return an empty site with reserved surroundings of origin and river."""
        site = cls(land, river, np.zeros(land.fine.shape, dtype=bool))
        if len(river.line_m):
            x, y = land.fine.axes_m()
            wet = river.away_m(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)) < _BESIDE_WATER_M
            site.taken |= wet.reshape(land.fine.shape)
        places = site._places(np.zeros(2), 0.0, (2 * ORIGIN_FREE_M, 2 * ORIGIN_FREE_M))
        site.taken.reshape(-1)[places] = True
        return site

    def place_rectangle(
        self, centre_m: Float64, yaw_deg: float, size_m: tuple[float, float], *, gap_m: float = 0.0
    ) -> bool:
        """Occupy a rectangle (length along yaw, width) if it is free with ``gap_m`` around it and on the fine grid."""
        places = self._places(centre_m, yaw_deg, (size_m[0] + 2 * gap_m, size_m[1] + 2 * gap_m))
        expected_count = (size_m[0] + 2 * gap_m) * (size_m[1] + 2 * gap_m) / self.land.fine.cell_m**2
        if len(places) < 0.8 * expected_count - 6:  # it extends past the grid
            return False
        flat = self.taken.reshape(-1)
        if flat[places].any() or (self.land.clear_m.reshape(-1)[places] < _CLEAR_M).any():
            return False
        flat[places] = True
        return True

    def free(self, spots_m: Float64, clear_m: float) -> Bools:
        """Return (N,) whether (N, 2) points are free and at least ``clear_m`` from roads and sidewalks."""
        i, j = self.land.fine.pixels(spots_m)
        return np.asarray(~self.taken[i, j] & (self.land.clear_at(spots_m) > clear_m), dtype=np.bool_)

    def open_to(self, spots_m: Float64) -> Bools:
        """Return (N,) whether (N, 2) points, also outside the grid, are away from origin and river."""
        return np.asarray(off_origin(spots_m) & (self.river.away_m(spots_m) > _BESIDE_WATER_M), dtype=np.bool_)

    def _places(self, centre_m: Float64, yaw_deg: float, size_m: tuple[float, float]) -> Int32:
        cos, sin = np.cos(np.radians(yaw_deg)), np.sin(np.radians(yaw_deg))
        hx, hy = size_m[0] / 2, size_m[1] / 2
        local = np.array([(-hx, -hy), (hx, -hy), (hx, hy), (-hx, hy)])
        corners = np.zeros((4, 3))
        corners[:, 0] = centre_m[0] + cos * local[:, 0] - sin * local[:, 1]
        corners[:, 1] = centre_m[1] + sin * local[:, 0] + cos * local[:, 1]
        return draw(self.land.fine, corners[[[0, 1, 2], [0, 2, 3]]])[0]


def off_origin(points_m: Float64) -> Bools:
    """Return (N,) whether (N, 2 or more) points are away from the origin."""
    return np.asarray(np.hypot(points_m[:, 0], points_m[:, 1]) > ORIGIN_FREE_M, dtype=np.bool_)


def along(line: Float64, step_m: float, first_m: float, last_m: float) -> tuple[Float64, Float64]:
    """Return (M, 3) points every ``step_m`` on an (N, 3) polyline and (M, 2) unit directions, without its ends."""
    span = np.linalg.norm(np.diff(line[:, :2], axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(span)])
    at = np.arange(first_m, length[-1] - last_m, step_m)
    return points_at(line, at)


def points_at(line: Float64, at: Float64) -> tuple[Float64, Float64]:
    """Return (M, 3) points of an (N, 3) polyline at (M,) distances, and (M, 2) unit directions."""
    span = np.linalg.norm(np.diff(line[:, :2], axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(span)])
    points = np.stack([np.interp(at, length, line[:, axis]) for axis in range(3)], axis=1)
    piece = np.clip(np.searchsorted(length, at, side="right") - 1, 0, len(span) - 1)
    ahead = (line[1:, :2] - line[:-1, :2])[piece]
    return points, ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
