"""Find code that changes a third-party distribution's modules or classes, or uses a private name of one.

A foreign name is a name imported from neither the standard library nor this repository, or an attribute of one. Instances
that a module makes are its own: ``figure = Figure(); figure.title = ...`` is no finding.
"""

import ast
import sys
from collections.abc import Iterator
from typing import Final

ALLOWED: Final[dict[tuple[str, str], str]] = {}
"""(file, name of the finding) -> reason: at most three entries, all on libcarla's Traffic Manager."""
_CHANGES: Final = {"setattr", "delattr", "patch.object", "monkeypatch.setattr", "monkeypatch.delattr"}
_OF_MODULES: Final = {"sys.modules.pop", "sys.modules.setdefault", "sys.modules.update", "sys.modules.clear"}


def foreign_changes(text: str, *, local_names: set[str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, dotted name and fault; ``local_names`` are the top-level names of this repository."""
    tree, local = ast.parse(text), local_names | sys.stdlib_module_names
    bound = {name: source for name, source, _ in _imports(tree, local=local)}
    for node in ast.walk(tree):  # names for parts of foreign modules: base = numba.core.base
        if isinstance(node, ast.Assign) and (source := _dotted(node.value, bound)):
            bound |= {target.id: source for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        for target in _targets(node):
            if isinstance(target, ast.Attribute) and (name := _dotted(target, bound)):
                yield line, name, "is assigned or deleted"
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) == "sys.modules":
                yield line, "sys.modules", "is changed"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in _OF_MODULES:
                yield line, "sys.modules", "is changed"
            if called.removeprefix("mock.") in _CHANGES and node.args and (name := _dotted(node.args[0], bound)):
                yield line, name, f"is changed by {called}"
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and (name := _dotted(node, bound)):
            yield line, name, "is private"
        if isinstance(node, ast.Import | ast.ImportFrom):
            for _, _, name in _imports(node, local=local):
                if any(map(_is_private, name.split("."))):
                    yield line, name, "is private"


def _imports(tree: ast.AST, *, local: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the bound name, its dotted origin and the imported module of each foreign import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (top := alias.name.partition(".")[0]) not in local:
                    yield alias.asname or top, alias.name if alias.asname else top, alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level and str(node.module).partition(".")[0] not in local:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield alias.asname or alias.name, name, name


def _dotted(node: ast.AST, bound: dict[str, str]) -> str:
    """Return the foreign dotted name of a name, its attributes or ``getattr``; empty if not foreign."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and len(node.args) > 1:
        holder, attribute = _dotted(node.args[0], bound), node.args[1]
        part = attribute.value if isinstance(attribute, ast.Constant) else "?"
        return f"{holder}.{part!s}" if holder else ""
    if isinstance(node, ast.Attribute):
        holder = _dotted(node.value, bound)
        return f"{holder}.{node.attr}" if holder else ""
    return bound.get(node.id, "") if isinstance(node, ast.Name) else ""


def _targets(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the targets that a statement assigns or deletes."""
    if isinstance(node, ast.Assign | ast.Delete):
        waiting: list[ast.expr] = list(node.targets)
    else:
        waiting = [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For) else []
    while waiting:
        target = waiting.pop()
        waiting += target.elts if isinstance(target, ast.Tuple | ast.List) else ()
        yield target


def _is_private(part: str) -> bool:
    return part.startswith("_") and not part.startswith("__")
