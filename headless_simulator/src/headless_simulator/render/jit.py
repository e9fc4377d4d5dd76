"""The door to numba: every kernel releases the GIL and is compiled once per machine, not once per process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numba import njit

P = ParamSpec("P")
R = TypeVar("R")
Number: TypeAlias = Any  # a scalar inside a kernel: numba distinguishes float32 and float64, mypy need not


int64: Final = cast("Callable[[Any], int]", np.int64)
"""In a kernel, one type for the numbers of int32 arrays and for Python's: a function is compiled once for both."""


def kernel(*, fastmath: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of arrays and numbers.

    Args:
        fastmath: let sums be reordered. The same binary on the same machine still gives the same bits, but the two
            triangles of an edge may round apart: never for geometry.
    """
    return cast(
        "Callable[[Callable[P, R]], Callable[P, R]]",
        njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath),
    )
