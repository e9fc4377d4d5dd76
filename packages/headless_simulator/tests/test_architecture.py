"""The import graph has no cycle, including imports for type checking and inside functions."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import headless_simulator
import pytest

ROOT = Path(headless_simulator.__path__[0])
MOST_LINES = 400
MOST_FUNCTION_LINES = 80


def modules() -> dict[str, Path]:
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = ("headless_simulator", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute here"
            whole = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in known else str(node.module) for name in whole.values()}
    return names & known.keys()


def test_imports_have_no_cycle() -> None:
    known = modules()
    graph = {name: imported(path, known) - {name} for name, path in known.items()}
    assert sum(map(len, graph.values())) > 300, "the graph was read"

    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(" -> ".join(reversed(circle.args[1])))


def is_kernel(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        "kernel" in ast.unparse(decorator) or "jit" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def test_modules_and_functions_have_a_size_limit() -> None:
    too_long = []
    for name, path in modules().items():
        text = path.read_text("utf-8")
        if text.count("\n") > MOST_LINES:
            too_long.append(name)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_kernel(node):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                too_long += [f"{name}.{node.name}"] if lines > MOST_FUNCTION_LINES else []

    assert not too_long
