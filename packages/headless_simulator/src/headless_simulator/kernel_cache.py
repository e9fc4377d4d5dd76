"""Places of compiled kernels, and the test of their age.

numba keeps machine code beside the source, and takes it for old when the file of the function changed. But the code of what a
kernel calls is inside it: after a change to ``world/cells.py`` the kernels of other files would go on with the cells of
before, in one process with kernels that have the new ones. So code is kept for a file **and all files of this package that
it imports**, directly or not. It lies in the account's cache folder, under versions, processor and that stamp, so that
a second environment of the same account compiles nothing.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
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

_PACKAGE: Final = Path(__file__).parent
_IMPORT: Final = re.compile(rf"^(?:from|import) ({_PACKAGE.name}[\w.]*)(?: import (\([^)]*\)|.*))?$", re.MULTILINE)

_DIGEST_BYTES: Final = 16
_UNUSED_S: Final = 30 * 86400

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
        return pickle.loads(code)


class _OfTheAccount(InTreeCacheLocator):  # type: ignore[misc]
    """A folder for each digest of sources: environments of one account with the same sources share their machine code."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        folder = account_folder()
        assert folder is not None
        self._cache_path = str(folder / sources_stamp(Path(py_file)).hex())

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        if config.CACHE_DIR or account_folder() is None:
            return None  # numba's own places, then: the named one, or beside the source
        found = super().from_function(py_func, py_file)
        if found is not None:
            os.utime(found.get_cache_path())  # in use: see forget_unused
        return found


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_OfTheAccount, *CompileResultCacheImpl._locator_classes)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, with a stamp of all sources that its machine code is made of."""

    _impl_class = _Implementation

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        self._cache_file = _Checked(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=sources_stamp(Path(py_func.__code__.co_filename)),
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

    def _in_package(self, codegen: Any) -> Iterator[tuple[_Checked, _Target]]:
        stamp, base = self._cache_file._source_stamp, self._impl.filename_base
        for level, folder in shipped_folders().items():
            yield _Checked(folder / stamp.hex(), base, stamp), _Target(codegen.magic_tuple()[0], level)


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


def forget_unused() -> None:
    """Remove machine code that nothing has looked for in a month: of sources, versions and processors that are no more."""
    folder = account_folder()
    for old in folder.parent.glob("*/*") if folder is not None else ():
        if time.time() - old.stat().st_mtime > _UNUSED_S:
            shutil.rmtree(old, ignore_errors=True)


def sources_stamp(source: Path) -> bytes:
    """Return a digest of a file and of all files of this package that it imports, directly or not."""
    found: set[Path] = set()
    left = [source]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left.extend(_read(file)[1])
    return blake2b(b"".join(_read(file)[0] for file in sorted(found)), digest_size=16).digest()


@cache
def _read(file: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Return the digest of a file, and which files of this package it imports itself."""
    content = file.read_bytes()
    return blake2b(content, digest_size=16).digest(), tuple(_imported(content.decode()))


def _imported(text: str) -> Iterator[Path]:
    for module, names in _IMPORT.findall(text):
        place = _PACKAGE.parent.joinpath(*module.split("."))
        for name in re.findall(r"\w+", names) or [""]:  # a module of the package, or what stands in it
            candidates = (
                place / f"{name}.py",
                place / name / "__init__.py",
                place.with_suffix(".py"),
                place / "__init__.py",
            )
            yield from [file for file in candidates if file.is_file()][:1]


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
