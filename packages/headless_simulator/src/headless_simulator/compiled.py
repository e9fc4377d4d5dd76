"""The door to numba: every kernel releases the GIL and is compiled once per machine, not once per process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, Final, Literal, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numba.core import config, types
from numba.core.registry import CPUDispatcher

from headless_simulator.kernel_cache import KernelCache

P = ParamSpec("P")
R = TypeVar("R")
Number: TypeAlias = Any  # a scalar inside a kernel: numba distinguishes float32 and float64, mypy need not


_FLAGS: Final[dict[bool, Any]] = {False: False, True: {"nnan", "ninf", "nsz"}}

int64: Final = cast("Callable[[Any], int]", np.int64)
"""In a kernel, one type for the numbers of int32 arrays and for Python's: a function is compiled once for both."""


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function that Python calls. Kernels that call it have it without the wrapper that takes Python's objects apart.

    Nobody calls that wrapper, and to compile it took a sixth of a server's start.
    """

    @cached_property
    def _numba_type_(self) -> Any:
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        self._callee = CPUDispatcher(self.py_func, targetoptions=options)  # its type alone would not keep it
        return types.Dispatcher(self._callee)


def do_without_blas() -> None:
    """Keep numba from importing ``scipy.linalg``, a tenth of a server's start, for products of matrices that no kernel has.

    Called before the first kernel is; one with ``@`` in it does not compile afterwards.
    """
    absent = sys.modules.setdefault("scipy.linalg", cast("ModuleType", None)) is None
    try:
        importlib.import_module("numba.np.arraymath")  # asks for it once, and goes on without
    finally:
        if absent:
            del sys.modules["scipy.linalg"]


def kernel(
    *, assume_finite: bool = False, counts: bool = True, error_model: Literal["numpy", "python"] = "numpy"
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of arrays and numbers.

    Args:
        assume_finite: nothing in it is infinite or no number, and the sign of zero does not matter: choices between two
            numbers become single instructions. Sums keep their order and are not fused with products, so that results are
            the same with every vector width, and whether callees are inlined or not.
        counts: whether references to arrays are counted. A kernel that makes no array can do without: counting takes up to
            nine tenths of its time where it looks at parts of arrays, pixel by pixel or triangle by triangle.
        error_model: whose way to divide by zero: ``numpy`` gives infinities, ``python`` raises.
    """

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        if config.DISABLE_JIT:
            return function
        options = {"nogil": True, "no_cfunc_wrapper": True, "error_model": error_model, "_nrt": counts}
        dispatcher = _Kernel(function, targetoptions={**options, "nopython": True, "fastmath": _FLAGS[assume_finite]})
        dispatcher._cache = KernelCache(function)  # what numba's cache=True does, with a stamp that knows the callees
        return cast("Callable[P, R]", dispatcher)

    return compiled
