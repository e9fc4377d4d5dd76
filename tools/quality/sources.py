"""The Python files of the repository, parsed once."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["PACKAGES", "Function", "Package", "Source", "functions_of", "read_sources"]

_KERNELS: Final = (
    "njit",
    "jit",
    "kernel",
)  # decorators of what numba compiles: loops that cannot be split without a cost


@dataclass(frozen=True, slots=True)
class Package:
    """A package whose modules have tests beside them: where it lies, where its tests lie, both from the repository's root."""

    name: str
    folder: str
    tests: str


PACKAGES: Final = (
    Package("uavsim", "uavsim", "tests"),
    Package(
        "headless_simulator", "packages/headless_simulator/src/headless_simulator", "packages/headless_simulator/tests"
    ),
    Package("uavsim_baselines", "packages/baselines/src/uavsim_baselines", "packages/baselines/tests"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One file: its path from the repository's root, its text, its syntax tree, and all nodes of that."""

    path: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(ast.walk(self.tree)))

    @property
    def lines(self) -> list[str]:
        """The text by lines."""
        return self.text.splitlines()

    @property
    def is_test(self) -> bool:
        """Whether it lies in a folder of tests."""
        return "tests" in Path(self.path).parts


@dataclass(frozen=True, slots=True)
class Function:
    """One function, nested ones included."""

    path: str
    name: str
    line: int
    length: int
    compiled: bool


def read_sources(root: Path) -> list[Source]:
    """Parse every Python file that git tracks or would track.

    Raises:
        SyntaxError: a file is not Python.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split()
    paths = [name for name in sorted(set(names)) if (root / name).is_file()]
    texts = {name: (root / name).read_text("utf-8") for name in paths}
    return [Source(name, text, ast.parse(text, name)) for name, text in texts.items()]


def functions_of(source: Source) -> Iterator[Function]:
    """Yield the functions of a file; the length is from ``def`` to the last line, decorators left out."""
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            compiled = any(any(mark in ast.unparse(d) for mark in _KERNELS) for d in node.decorator_list)
            yield Function(source.path, node.name, node.lineno, length, compiled)
