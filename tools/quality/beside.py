"""Which modules have tests beside them: ``uavsim/plan/path.py`` is tested by ``tests/plan/test_path.py``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from tools.quality.sources import Package, Source

__all__ = ["Beside", "modules_by_test"]

_NO_LOGIC: Final = frozenset({"__init__", "__main__"})


@dataclass(frozen=True, slots=True)
class Beside:
    """The modules of a package by where a test of the same name lies: in the mirrored room, in another one, nowhere."""

    beside: tuple[str, ...]
    elsewhere: tuple[str, ...]
    without: tuple[str, ...]

    @property
    def modules(self) -> int:
        """How many modules there are."""
        return len(self.beside) + len(self.elsewhere) + len(self.without)


def modules_by_test(sources: Iterable[Source], package: Package) -> Beside:
    """Sort a package's modules by where their tests lie; ``__init__`` and ``__main__`` have none of their own."""
    paths = {source.path for source in sources}
    tests = {path for path in paths if path.startswith(package.tests + "/")}
    names = {PurePosixPath(path).name for path in tests}
    beside: list[str] = []
    elsewhere: list[str] = []
    without: list[str] = []
    for path in sorted(path for path in paths if path.startswith(package.folder + "/")):
        module = PurePosixPath(path).relative_to(package.folder)
        if module.stem in _NO_LOGIC:
            continue
        test = f"test_{module.name.lstrip('_')}"
        place = str(PurePosixPath(package.tests) / module.parent / test)
        (beside if place in tests else elsewhere if test in names else without).append(path)
    return Beside(tuple(beside), tuple(elsewhere), tuple(without))
