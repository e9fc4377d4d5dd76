"""Compile kernels with numba: they release the GIL, keep strict floating point, and are compiled once per user.

Importing numba takes half a second and 80 MB: only modules that run kernels import this one.
"""

import atexit
import importlib.metadata
import os
import stat
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

from uavsim.environment import cache_folder
from uavsim.files.scratch import scratch_folder

P = ParamSpec("P")
R = TypeVar("R")

CACHE_VARIABLE: Final = "NUMBA_CACHE_DIR"
_COMPILERS: Final = ("numba", "llvmlite", "numpy")
_PACKAGE: Final = Path(__file__).parents[1]


@cache
def kernel_folder() -> Path:
    """Return the cache folder for the machine code of these kernels, compiled by these versions.

    numba does not notice a change in a function that a kernel calls from another file, so the folder's name has a digest of
    all kernels' sources. numba's index separates processors.
    """
    facts = [sys.version, *map(importlib.metadata.version, _COMPILERS)]
    sources = (file.read_bytes() for file in sorted(_PACKAGE.rglob("*.py")))
    digest = blake2b("\n".join(facts).encode(), digest_size=8)
    for source in sources:
        if b"compiled import kernel" in source:
            digest.update(source)
    return cache_folder() / f"kernels-{digest.hexdigest()}"


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and numbers; machine code is cached in ``NUMBA_CACHE_DIR``, else ``kernel_folder``."""
    compiled = _numba().njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast("Callable[P, R]", compiled)


@cache
def _numba() -> Any:
    """Import numba with the cache variable set only for the import; child processes use their own folders.

    If the user's folder cannot be used, numba may find no other and would refuse to run any kernel. A temporary folder, which
    child processes share, then holds the machine code until this process ends.
    """
    is_set = CACHE_VARIABLE in os.environ
    if not is_set and _made_private(kernel_folder()):
        os.environ[CACHE_VARIABLE] = str(kernel_folder())
    elif not is_set:
        open_folders = ExitStack()
        atexit.register(open_folders.close)
        os.environ[CACHE_VARIABLE] = str(open_folders.enter_context(scratch_folder("uavsim-kernels-")))
        is_set = True
    import numba

    if not is_set:
        os.environ.pop(CACHE_VARIABLE, None)
    return numba


def _made_private(folder: Path) -> bool:
    """Create a folder that only this user can write; returns False if that fails, because its code would be executed."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
