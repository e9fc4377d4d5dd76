"""Ground height for kernels."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import Float32, Float64, Ground

BELOW_BRIDGE_M: Final = 2.0  # positions lower than this below a bridge's top are under the bridge

_fast = kernel(error_model="python")  # kernels without new arrays need no reference counts


class GroundGrid(NamedTuple):
    """``scene.Ground`` as a tuple of arrays for kernels."""

    origin_m: Float64
    cell_m: float
    height_m: Float32
    under_m: Float32

    @classmethod
    def of(cls, ground: Ground) -> GroundGrid:
        """Convert a town's ground."""
        height = np.ascontiguousarray(ground.height_m, dtype=np.float32)
        under = np.ascontiguousarray(ground.under_m, dtype=np.float32)
        return cls(np.asarray(ground.origin_m, dtype=np.float64), float(ground.cell_m), height, under)


@_fast
def _corner(j: int, i: int, z: float, ground: GroundGrid) -> float:
    """Return a grid point's height for a body at height ``z``: that of the lower road if the body is under a bridge."""
    top = ground.height_m[j, i]
    if ground.under_m.size > 0 and z < top - BELOW_BRIDGE_M:
        under = ground.under_m[j, i]
        if under == under:
            return under  # type: ignore[no-any-return]
    return top  # type: ignore[no-any-return]


@_fast
def ground_height(x: float, y: float, z: float, ground: GroundGrid) -> float:
    """Return the bilinear ground height, metres, below (x, y, z); positions outside the grid take its edge."""
    rows, columns = ground.height_m.shape
    u = min(max((x - ground.origin_m[0]) / ground.cell_m, 0.0), columns - 1.000001)
    v = min(max((y - ground.origin_m[1]) / ground.cell_m, 0.0), rows - 1.000001)
    i, j = int(u), int(v)
    a, b = u - i, v - j
    low = _corner(j, i, z, ground) * (1 - a) + _corner(j, i + 1, z, ground) * a
    high = _corner(j + 1, i, z, ground) * (1 - a) + _corner(j + 1, i + 1, z, ground) * a
    return low * (1 - b) + high * b  # type: ignore[no-any-return]
