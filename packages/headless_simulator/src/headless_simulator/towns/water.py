"""A river: its bed in the terrain, its water, and the parapets of its bridges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from headless_simulator.scene import GLASS, TAG, Float64
from headless_simulator.towns.arrays import Bools
from headless_simulator.towns.raster import Grid
from headless_simulator.towns.triangle_soup import RGB, Appearance, TriangleSoup

_HALF_M: Final = 8.0  # of the water's width
_BED_M: Final = 4.0  # depth of the bed below the land
_WATER_M: Final = 1.9  # and the water
_BANK_M: Final = 9.0  # of slope beside the water
_STEP_M: Final = 6.0
_WATER_RGB: Final[RGB] = (46, 66, 66)
_CONCRETE_RGB: Final[RGB] = (150, 147, 140)
BANK_RGB: Final[RGB] = (118, 110, 82)


@dataclass(frozen=True, slots=True, eq=False)
class River:
    """A river by its centre line.

    Attributes:
        line_m: (N, 2) points every few metres, Unreal's axes; empty without a river.
    """

    line_m: Float64

    @classmethod
    def through(cls, corners_m: tuple[tuple[float, float], ...]) -> River:
        """Return a smooth river along corner points."""
        line = np.array(corners_m, dtype=np.float64).reshape(-1, 2)
        for _ in range(3 if len(line) else 0):  # Chaikin's corner cutting
            cut = np.stack([0.75 * line[:-1] + 0.25 * line[1:], 0.25 * line[:-1] + 0.75 * line[1:]], axis=1)
            line = np.concatenate([line[:1], cut.reshape(-1, 2), line[-1:]])
        if not len(line):
            return cls(line)
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
        at = np.arange(0.0, length[-1], _STEP_M)
        return cls(np.stack([np.interp(at, length, line[:, axis]) for axis in (0, 1)], axis=1))

    def away_m(self, spots_m: Float64) -> Float64:
        """Return (N,) distances of (N, 2) points to the water's edge, metres; 0 or less on the water."""
        if not len(self.line_m):
            return np.full(len(spots_m), np.inf)
        return np.asarray(cKDTree(self.line_m).query(spots_m)[0] - _HALF_M, dtype=np.float64)

    def spanned(self, spots_m: Float64) -> Bools:
        """Return (N,) whether (N, 2) points of a road are on a bridge."""
        return np.asarray(self.away_m(spots_m) < _BANK_M - 2.0, dtype=np.bool_)

    def carve(self, field: Float64, wide: Grid) -> None:
        """Lower the (Y, X) heights of open land to the river's bed."""
        x, y = wide.axes_m()
        spots = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        share = np.clip(1.0 - self.away_m(spots) / _BANK_M, 0.0, 1.0)
        field -= (_BED_M * share**2 * (3 - 2 * share)).reshape(field.shape)

    def ribbon(self) -> tuple[Float64, Float64]:
        """Return both (N, 2) edges of the water, slightly under its banks."""
        ahead = np.gradient(self.line_m, axis=0)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        side = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1) * (_HALF_M + 4.0)
        return self.line_m - side, self.line_m + side


def paint_river(triangle_soup: TriangleSoup, river: River, land_z_m: float) -> None:
    """Add the water."""
    if not len(river.line_m):
        return
    edges = [np.c_[edge, np.full(len(edge), land_z_m - _WATER_M)] for edge in river.ribbon()]
    triangle_soup.ribbon(edges[0], edges[1], Appearance(_WATER_RGB, TAG["water"], GLASS))


def paint_parapet(triangle_soup: TriangleSoup, river: River, edge_m: Float64) -> None:
    """Add a bridge's parapet along the (N, 3) points of a road's outer edge that span the river."""
    on = river.spanned(edge_m[:, :2])
    both = on[1:] & on[:-1]
    concrete = Appearance(_CONCRETE_RGB, TAG["bridge"])
    ahead = np.gradient(edge_m[:, :2], axis=0)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    thick = np.c_[-ahead[:, 1], ahead[:, 0], np.zeros(len(ahead))] * 0.15
    for low, high, shift_low, shift_high in (
        (-0.9, 0.95, -1, -1), (-0.9, 0.95, 1, 1), (0.95, 0.95, -1, 1), (-0.9, -0.9, -1, 1),
    ):  # fmt: skip
        a, b = edge_m + thick * shift_low + (0, 0, low), edge_m + thick * shift_high + (0, 0, high)
        triangle_soup.quads(np.stack([a[:-1], a[1:], b[1:], b[:-1]], axis=1)[both], concrete)
