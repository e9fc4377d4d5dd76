"""The door to numba: kernels release the GIL, keep strict floating point, and are compiled once per account.

numba takes half a second and 80 MB to import: only modules that run kernels import this one, when there is something to run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ParamSpec, TypeVar, cast

from numba.core import config, types
from numba.core.registry import CPUDispatcher

from uavsim.kernel_cache import KernelCache

__all__ = ["is_kept", "kernel"]

P = ParamSpec("P")
R = TypeVar("R")


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function that Python calls. Kernels that call it have it without the wrapper that takes Python's objects apart."""

    @cached_property
    def _numba_type_(self) -> Any:
        self._callee = CPUDispatcher(self.py_func, targetoptions={**self.targetoptions, "no_cpython_wrapper": True})
        return types.Dispatcher(self._callee)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and numbers.

    It calls kernels of its own file only: numba keeps machine code until that file changes, and what a kernel calls is in it.
    """
    if config.DISABLE_JIT:
        return function
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    dispatcher = _Kernel(function, targetoptions=options)
    dispatcher._cache = KernelCache(function)  # what numba's cache=True does, in a folder that environments share
    return cast("Callable[P, R]", dispatcher)


def is_kept(function: Callable[..., Any]) -> bool:
    """Return whether a kernel's machine code is on disk, for this file and this processor, whatever its arguments.

    numba has no public way to ask; of a version that cannot be asked so, and where nothing is compiled, the answer is yes.
    """
    try:
        kept: bool = function._cache.is_kept(function.targetctx.codegen())  # type: ignore[attr-defined]
        return kept
    except (AttributeError, LookupError, TypeError):
        return True
