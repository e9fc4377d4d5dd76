"""The baselines use uavsim's public names only."""

import ast
from pathlib import Path

import uavsim

SOURCES = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))
PUBLIC = {
    "uavsim",
    "uavsim_benchmarks.evaluate.metrics",
    "uavsim_benchmarks.evaluate.outcome",
    "uavsim.occupancy.classes",
    "uavsim.occupancy.files",
    "uavsim_benchmarks.evaluate.occupancy",
}  # documented in docs/evaluation.md and docs/api-occupancy.md


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_of_uavsim_only_public_modules_are_imported() -> None:
    assert len(SOURCES) > 20
    used = {name for path in SOURCES for name in imports(path) if name.startswith("uavsim")}
    used = {name for name in used if name.partition(".")[0] != "uavsim_baselines"}
    assert used == PUBLIC


def test_names_of_uavsim_are_public() -> None:
    names = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "uavsim":
                names.add(node.attr)
    assert names
    assert names <= set(uavsim.__all__)
