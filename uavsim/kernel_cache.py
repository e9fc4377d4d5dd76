"""Where machine code is kept: in the account's cache folder, under versions, processor and a digest of the source.

Environments of one account share it: a second one compiles nothing. A kernel calls those of its own file only, so that
the file is all that its machine code is made of. The headless simulator keeps its own there, by code of its own.
"""

from __future__ import annotations

import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name  # type: ignore[import-untyped]
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator

__all__ = ["KernelCache"]

_DIGEST_BYTES: Final = 16


class _Checked(IndexDataCacheFile):  # type: ignore[misc]
    """numba's files of one function, each with its digest in front: what is not whole, or not ours, is compiled anew."""

    def _save_data(self, name: str, data: Any) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_digest(code) + code)

    def _load_data(self, name: str) -> Any:
        kept = Path(self._data_path(name)).read_bytes()
        digest, code = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
        if digest != _digest(code):
            raise OSError(f"{name} is damaged")  # which numba takes for absent
        return pickle.loads(code)


class _OfTheAccount(InTreeCacheLocator):  # type: ignore[misc]
    """A folder for each digest of sources: environments of one account with the same sources share their machine code."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        folder = account_folder()
        assert folder is not None
        self._cache_path = str(folder / blake2b(Path(py_file).read_bytes(), digest_size=16).hexdigest())

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        if config.CACHE_DIR or account_folder() is None:
            return None  # numba's own places, then: the named one, or beside the source
        found = super().from_function(py_func, py_file)
        if found is not None:
            os.utime(found.get_cache_path())  # in use: what is not is removed after a month
        return found


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_OfTheAccount, *CompileResultCacheImpl._locator_classes)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, in the account's folder."""

    _impl_class = _Implementation

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        self._cache_file = _Checked(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )


@cache
def account_folder() -> Path | None:
    """Return this account's folder for these versions and this processor; None where there is none that only it can write."""
    facts = [sys.version, numba.__version__, llvmlite.__version__, np.__version__]
    facts += [get_host_cpu_name(), get_host_cpu_features().flatten()]
    facts += [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_")]
    name = blake2b("\n".join(facts).encode(), digest_size=8).hexdigest()
    for place in (_of_home, _of_temp):
        try:
            folder = place() / "machine-code" / name
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_ours(folder) and os.access(folder, os.W_OK):
                return folder
        except (OSError, RuntimeError):  # no home, or none that can be written
            continue
    return None


def _of_home() -> Path:
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (caches if caches.is_absolute() else Path.home() / ".cache") / "uavsim"


def _of_temp() -> Path:
    """Return a folder for a user id without a home; in a folder that all may write, its name may be another's."""
    folder = Path(tempfile.gettempdir(), f"uavsim-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if not _is_ours(folder):
        raise PermissionError(folder)
    return folder


def _is_ours(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=_DIGEST_BYTES).digest()
