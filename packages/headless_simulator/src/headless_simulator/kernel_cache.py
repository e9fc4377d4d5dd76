"""Places of compiled kernels, and the test of their age.

numba keeps machine code beside the source, and takes it for old when the file of the function changed. But the code of what a
kernel calls is inside it: after a change to ``world/cells.py`` the kernels of other files would go on with the cells of
before, in one process with kernels that have the new ones. So code is kept for a file **and all files of this package that
it imports**, directly or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from numba.core.caching import FunctionCache, IndexDataCacheFile

_PACKAGE: Final = Path(__file__).parent
_IMPORT: Final = re.compile(rf"^(?:from|import) ({_PACKAGE.name}[\w.]*)(?: import (\([^)]*\)|.*))?$", re.MULTILINE)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, with a stamp of all sources that its machine code is made of."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=sources_stamp(Path(py_func.__code__.co_filename)),
        )


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
