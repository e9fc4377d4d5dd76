"""A spatial index of ground cells, for the per-vehicle queries of each tick.

Results equal those of a full search; ties go to the lowest number.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import Float64
from headless_simulator.world.contact import Int64

_CELL_M: Final = 24.0
_MOST_CELLS: Final = 65_536
_FAR_M: Final = 1e8  # above it, cell numbers would not be exact integers


class Cells(NamedTuple):
    """Item numbers by cell, row by row, in ascending order per cell.

    Attributes:
        origin_m: (2,) corner of the first cell.
        cell_m: side of a cell.
        columns, rows: numbers of cells.
        first: (rows * columns + 1,) first index of each cell in ``members``.
        members: (M,) item numbers.
    """

    origin_m: Float64
    cell_m: float
    columns: int
    rows: int
    first: Int64
    members: Int64

    @classmethod
    def of(cls, low_m: Float64, high_m: Float64) -> Cells:
        """Sort items by the cells that they touch.

        Args:
            low_m: (N, 2) lowest x and y of each item, metres.
            high_m: (N, 2) highest x and y.
        """
        if not len(low_m):
            return cls(np.zeros(2), _CELL_M, 1, 1, np.zeros(2, np.int64), np.zeros(0, np.int64))
        origin, size = low_m.min(axis=0), high_m.max(axis=0) - low_m.min(axis=0)
        cell_m = max(_CELL_M, float(np.sqrt(size.prod() / _MOST_CELLS)), float(size.max()) / _MOST_CELLS)
        start = ((low_m - origin) / cell_m).astype(np.int64)
        wide, high = ((high_m - origin) / cell_m).astype(np.int64).T - start.T + 1
        columns, rows = ((high_m - origin) / cell_m).astype(np.int64).max(axis=0) + 1
        owner = np.repeat(np.arange(len(low_m)), wide * high)
        offset = np.arange(len(owner)) - np.repeat(np.cumsum(wide * high) - wide * high, wide * high)
        cell = (start[owner, 1] + offset // wide[owner]) * columns + start[owner, 0] + offset % wide[owner]
        first = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=columns * rows))])
        return cls(origin, cell_m, int(columns), int(rows), first, owner[np.argsort(cell, kind="stable")])


@kernel(error_model="python")
def _along(at_m: float, origin_m: float, cell_m: float, count: int) -> int:
    """Return the cell index of a coordinate, clipped to the grid."""
    return min(max(int((at_m - origin_m) / cell_m), 0), count - 1)


@kernel(error_model="python")
def nearest_to(x: float, y: float, samples: Float64, cells: Cells) -> int:
    """Return the number of the sample nearest to (x, y), metres; (N, 2+) samples start with x, y, and ``cells`` index them."""
    best, least = 0, 1e300
    column = _along(x, cells.origin_m[0], cells.cell_m, cells.columns) if abs(x) < _FAR_M else 0
    row = _along(y, cells.origin_m[1], cells.cell_m, cells.rows) if abs(y) < _FAR_M else 0
    west, south = x - cells.origin_m[0] - column * cells.cell_m, y - cells.origin_m[1] - row * cells.cell_m
    for ring in range(max(cells.columns, cells.rows)):  # cells around the point, nearest first
        for r in range(max(row - ring, 0), min(row + ring, cells.rows - 1) + 1):
            is_full_row = abs(r - row) == ring
            for c in range(max(column - ring, 0), min(column + ring, cells.columns - 1) + 1):
                if not is_full_row and abs(c - column) != ring:
                    continue
                for k in range(cells.first[r * cells.columns + c], cells.first[r * cells.columns + c + 1]):
                    m = cells.members[k]
                    dx, dy = samples[m, 0] - x, samples[m, 1] - y
                    away = dx * dx + dy * dy
                    if away < least or (away == least and m < best):
                        best, least = m, away
        rim = min(min(west, cells.cell_m - west), min(south, cells.cell_m - south)) + ring * cells.cell_m
        if rim > 0.0 and least < rim * rim * 0.999999:
            break  # outer cells are farther away
    return best
