"""The decorator of numba kernels, and the cache folder of their machine code.

numba recompiles a kernel only if its own file has changed, but its machine code includes callees from other files. Therefore
the folder's name is a hash of all kernel sources and of the compilers' versions.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
Number: TypeAlias = Any  # a scalar inside a kernel: numba distinguishes float32 and float64, mypy need not

int64: Final = cast("Callable[[Any], int]", np.int64)
"""In a kernel, one type for items of int32 arrays and Python integers: functions are compiled once for both."""

_VARIABLE: Final = "NUMBA_CACHE_DIR"
_SOURCES: Final = (
    "airsim/*.py",
    "render/*.py",
    "world/*.py",
    "jit.py",
    "scene.py",
)
_EXACT: Final = {"nnan", "ninf", "nsz"}  # exclude values only; other LLVM flags would change results


def cache_folder() -> Path:
    """Return the user's cache folder for these sources and versions; ``NUMBA_CACHE_DIR`` overrides it."""
    if named := os.environ.get(_VARIABLE):
        return Path(named)
    here = Path(__file__).parent
    facts = [sys.version, *map(importlib.metadata.version, ("numba", "llvmlite", "numpy"))]
    digest = hashlib.sha256("\n".join(facts).encode())
    for source in sorted(path for pattern in _SOURCES for path in here.glob(pattern)):
        digest.update(source.read_bytes())
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches, "headless-simulator", f"kernels-{digest.hexdigest()[:16]}")


def _import_numba() -> Any:
    """Import numba, which reads ``NUMBA_CACHE_DIR`` once; child processes choose their own folder.

    If the user's folder cannot be written, numba would refuse to run any kernel. A temporary folder, which child processes
    share, then holds the machine code until this process ends.
    """
    is_set = _VARIABLE in os.environ
    folder = cache_folder()
    if not is_set and not _is_writable(folder):
        folder = Path(tempfile.mkdtemp(prefix="headless-simulator-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        is_set = True
    os.environ[_VARIABLE] = str(folder)
    import numba

    if not is_set:
        del os.environ[_VARIABLE]
    return numba


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


numba: Final = _import_numba()


def kernel(
    *, assume_finite: bool = False, error_model: Literal["numpy", "python"] = "numpy"
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of arrays and numbers; it runs without the GIL.

    Args:
        assume_finite: no value is infinite or NaN, and the sign of zero does not matter. Sums keep their order and are not
        fused with products, so that results are equal on every processor.
        error_model: result of a division by zero: ``numpy`` gives infinities, ``python`` raises.
    """

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        decorate = numba.njit(
            cache=True, nogil=True, error_model=error_model, fastmath=_EXACT if assume_finite else False
        )
        return cast("Callable[P, R]", decorate(function))

    return compiled
