"""Code that stands twice: functions equal but for the names of their variables, and equal runs of lines."""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tools.quality.sources import Source

__all__ = ["Duplicate", "duplicate_functions", "duplicate_lines"]

_LEAST_NODES: Final = 60  # smaller functions are alike by chance
_RUN: Final = 10  # lines


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The places, ``file:line``, at which the same code stands, and how many lines it has."""

    places: tuple[str, ...]
    lines: int


class _Nameless(ast.NodeTransformer):
    """Gives every variable the name of its order of appearance, and drops annotations and the function's own name."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.setdefault(node.id, f"v{len(self._names)}")
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._names.setdefault(node.arg, f"v{len(self._names)}")
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = "f", None
        self.generic_visit(node)
        return node


def duplicate_functions(sources: Iterable[Source]) -> list[Duplicate]:
    """Return functions that say the same, docstrings and names of variables aside, the longest first."""
    alike: dict[tuple[type, ...], list[tuple[Source, ast.FunctionDef]]] = defaultdict(list)
    for source in sources:
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef) and len(parts := list(ast.walk(node))) >= _LEAST_NODES:
                alike[_statements(node, parts)].append((source, node))
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for source, node in (pair for pairs in alike.values() if len(pairs) > 1 for pair in pairs):
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        found[_shape(node)].append((f"{source.path}:{node.lineno}", length))
    groups = [Duplicate(tuple(p for p, _ in places), places[0][1]) for places in found.values() if len(places) > 1]
    return sorted(groups, key=lambda group: -group.lines)


def _statements(node: ast.FunctionDef, parts: Iterable[ast.AST]) -> tuple[type, ...]:
    """Return the kinds of its statements: equal for functions that are equal, and cheap to find out."""
    text = node.body[0] if ast.get_docstring(node) is not None else None
    return tuple(type(part) for part in parts if isinstance(part, ast.stmt) and part is not text)


def _shape(node: ast.FunctionDef) -> str:
    bare = copy.deepcopy(node)
    if ast.get_docstring(bare) is not None:
        bare.body = bare.body[1:]
    return ast.dump(_Nameless().visit(bare))


def duplicate_lines(sources: Iterable[Source]) -> list[Duplicate]:
    """Return runs of at least ten equal lines of code in two places; blank lines, comments, docstrings and imports aside."""
    found: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for source in sources:
        code = list(_code_lines(source))
        for k in range(len(code) - _RUN + 1):
            found[tuple(text for _, text in code[k : k + _RUN])].append((source.path, code[k][0]))
    twice = {run: places for run, places in found.items() if len(places) > 1}
    return sorted(_merged(twice), key=lambda group: -group.lines)


def _merged(runs: dict[tuple[str, ...], list[tuple[str, int]]]) -> Iterator[Duplicate]:
    """Join runs that follow one another in the same files: what is longer than ten lines is one duplicate."""
    by_files: dict[tuple[str, ...], list[list[tuple[str, int]]]] = defaultdict(list)
    for places in runs.values():
        by_files[tuple(path for path, _ in places)].append(places)
    for groups in by_files.values():
        groups.sort(key=lambda places: places[0][1])
        start, last, length = groups[0], groups[0], _RUN
        for places in groups[1:]:
            if places[0][1] - last[0][1] <= 3:  # the next line of code, blank lines and comments between
                length += 1
            else:
                yield Duplicate(tuple(f"{path}:{line}" for path, line in start), length)
                start, length = places, _RUN
            last = places
        yield Duplicate(tuple(f"{path}:{line}" for path, line in start), length)


def _code_lines(source: Source) -> Iterator[tuple[int, str]]:
    left_out: set[int] = set()
    for node in source.nodes:
        if isinstance(node, ast.stmt) and (isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node)):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for number, line in enumerate(source.lines, start=1):
        text = line.strip()
        if number not in left_out and len(text) > 1 and not text.startswith("#"):
            yield number, text


def _is_text(node: ast.AST) -> bool:
    """Tell a docstring, or any other text that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
