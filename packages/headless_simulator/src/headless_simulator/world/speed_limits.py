"""Speed limits of vehicles, from the town's nearest sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from headless_simulator.jit import kernel
from headless_simulator.scene import Float64
from headless_simulator.world import cells
from headless_simulator.world.cells import Cells
from headless_simulator.world.table import Columns, Rows

DEFAULT_KMH: Final = 50.0


class SpeedLimits:
    """A town's limits.

    Args:
        samples: (N, 3) x, y (metres) and limit (km/h).
    """

    def __init__(self, samples: npt.ArrayLike | Sequence[Sequence[float]]) -> None:
        self._samples = np.asarray(samples, np.float64).reshape(-1, 3)
        self._cells = Cells.of(self._samples[:, :2], self._samples[:, :2])

    def write(self, rows: Rows, c: Columns) -> None:
        """Write the limit, km/h, of each vehicle in (N,) rows to ``c.limit``."""
        if len(self._samples):
            _write(rows, c.pose, c.limit, (self._samples, self._cells))
        else:
            c.limit[rows] = DEFAULT_KMH


@kernel(error_model="python")
def _write(rows: Rows, pose: Float64, limit: Float64, limits: tuple[Float64, Cells]) -> None:
    samples, sample_cells = limits
    for row in rows:
        limit[row] = samples[cells.nearest_to(pose[row, 0], pose[row, 1], samples, sample_cells), 2]
