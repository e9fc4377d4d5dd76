"""The door to numba: kernels release the GIL, keep strict floating point, and are compiled once per machine.

numba takes half a second and 80 MB to import: only modules that run kernels import this one, when there is something to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

__all__ = ["kernel"]

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and numbers.

    It calls kernels of its own file only: numba keeps machine code until that file changes, and what a kernel calls is in it.
    """
    return cast("Callable[P, R]", njit(cache=True, nogil=True, error_model="numpy")(function))
