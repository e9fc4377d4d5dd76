"""The door to numba: every kernel releases the GIL and is compiled once per machine, not once per process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")
Number: TypeAlias = Any  # a scalar inside a kernel: numba distinguishes float32 and float64, mypy need not


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
