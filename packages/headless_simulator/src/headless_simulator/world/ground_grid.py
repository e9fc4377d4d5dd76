"""The height of the ground under a place, for kernels."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import Float32, Float64, Ground

BELOW_BRIDGE_M: Final = 2.0  # what is lower than that under a bridge's top is under the bridge

_fast = kernel(error_model="python")  # what makes no array needs no counts of references


class GroundGrid(NamedTuple):
    """``scene.Ground`` as the kernels take it."""

    origin_m: Float64
    cell_m: float
    height_m: Float32
    under_m: Float32

    @classmethod
    def of(cls, ground: Ground) -> GroundGrid:
        """Take over a town's ground."""
        height = np.ascontiguousarray(ground.height_m, dtype=np.float32)
        under = np.ascontiguousarray(ground.under_m, dtype=np.float32)
        return cls(np.asarray(ground.origin_m, dtype=np.float64), float(ground.cell_m), height, under)


@_fast
def _corner(j: int, i: int, z: float, ground: GroundGrid) -> float:
    """Return the height of a grid point for what is at a height: of the road below where that is under a bridge."""
    top = ground.height_m[j, i]
    if ground.under_m.size > 0 and z < top - BELOW_BRIDGE_M:
        under = ground.under_m[j, i]
        if under == under:
            return under  # type: ignore[no-any-return]
    return top  # type: ignore[no-any-return]


@_fast
def ground_height(x: float, y: float, z: float, ground: GroundGrid) -> float:
    """Return the bilinear height of the ground under a place; outside the grid that of its rim."""
    rows, columns = ground.height_m.shape
    u = min(max((x - ground.origin_m[0]) / ground.cell_m, 0.0), columns - 1.000001)
    v = min(max((y - ground.origin_m[1]) / ground.cell_m, 0.0), rows - 1.000001)
    i, j = int(u), int(v)
    a, b = u - i, v - j
    low = _corner(j, i, z, ground) * (1 - a) + _corner(j, i + 1, z, ground) * a
    high = _corner(j + 1, i, z, ground) * (1 - a) + _corner(j + 1, i + 1, z, ground) * a
    return low * (1 - b) + high * b  # type: ignore[no-any-return]
