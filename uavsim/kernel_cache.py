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
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name  # type: ignore[import-untyped]
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator

__all__ = ["KernelCache"]

_DIGEST_BYTES: Final = 16

LEVELS: Final = {
    "x86-64-v3": "+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+cx16,+popcnt,+sahf,+sse3,+ssse3,+sse4.1,+sse4.2,"
    "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
}
"""Processor levels whose machine code a wheel may bring: LLVM's name of each, and the features that a processor must have."""


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
        try:
            return pickle.loads(code)
        except ImportError as error:
            raise OSError(f"{name} is of a module that was moved") from error


class _OfTheAccount(InTreeCacheLocator):  # type: ignore[misc]
    """A folder for each digest of sources: environments of one account with the same sources share their machine code."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        folder = account_folder()
        assert folder is not None
        self._cache_path = str(folder / _sources_name(py_file))

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

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load what the account has; what came with the package where that has nothing."""
        found = super()._load_overload(sig, target_context)
        codegen = target_context.codegen()
        for kept, target in self._in_package(codegen) if found is None else ():
            data = kept.load(self._index_key(sig, target))
            if data is not None:
                return self._impl.rebuild(target_context, data)
        return found

    def is_kept(self, codegen: Any) -> bool:
        """Return whether there is machine code for this processor, whatever the arguments."""
        kept = [(self._cache_file, codegen), *self._in_package(codegen)]
        return any(key[1] == target.magic_tuple() for file, target in kept for key in file._load_index())

    def _in_package(self, codegen: Any) -> Iterator[tuple[_Checked, _Target]]:
        name = _sources_name(self._py_func.__code__.co_filename)
        for level, folder in shipped_folders().items():
            kept = _Checked(folder / name, self._impl.filename_base, self._impl.locator.get_source_stamp())
            yield kept, _Target(codegen.magic_tuple()[0], level)


class _Target(NamedTuple):
    """A processor as numba's index of machine code names it."""

    triple: str
    level: str

    def magic_tuple(self) -> tuple[str, str, str]:
        return self.triple, self.level, LEVELS[self.level]


@cache
def shipped_folders() -> dict[str, Path]:
    """Return folders of this package with machine code, by level: of the levels that this processor has all features of.

    What lies there is trusted as the Python beside it is. Where a variable of numba's may ask for other code, there is none.
    """
    if any(name.startswith("NUMBA_") for name in os.environ):
        return {}
    here = {f"+{feature}" for feature, has in get_host_cpu_features().items() if has}
    folders = {
        level: shipped_folder(level) for level, features in LEVELS.items() if here.issuperset(features.split(","))
    }
    return {level: folder for level, folder in folders.items() if folder.is_dir()}


def shipped_folder(level: str) -> Path:
    """Return where this package has machine code for a level, if a wheel brought it: of these versions of what makes it."""
    versions = (
        f"{sys.implementation.cache_tag}-numba{numba.__version__}-llvmlite{llvmlite.__version__}-numpy{np.__version__}"
    )
    return Path(__file__).parent / "machine_code" / versions / level


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


def _sources_name(file: str) -> str:
    return blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()


def _digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=_DIGEST_BYTES).digest()
