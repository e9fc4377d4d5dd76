"""Import circles between modules: imports for type checking and within functions count as well."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from tools.quality.sources import Package, Source

__all__ = ["circles", "import_graph"]


def import_graph(sources: Iterable[Source], package: Package, *, lazy: bool) -> dict[str, set[str]]:
    """Return which modules of ``package`` each of its modules imports.

    Args:
        sources: files of any package.
        package: whose modules are meant.
        lazy: whether imports within functions count.
    """
    modules = {_module(source, package): source for source in sources if source.path.startswith(package.folder + "/")}
    graph: dict[str, set[str]] = {}
    for name, source in modules.items():
        imported = {_nearest(target, modules) for target in _targets(source, name, lazy=lazy)}
        graph[name] = {target for target in imported if target is not None and target != name}
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected groups of more than one module, each sorted (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(graph.get(name, ())):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return sorted(found)


def _module(source: Source, package: Package) -> str:
    inner = source.path.removeprefix(package.folder + "/").removesuffix(".py").removesuffix("__init__").strip("/")
    return ".".join([package.name, *inner.split("/")]) if inner else package.name


def _targets(source: Source, module: str, *, lazy: bool) -> Iterator[str]:
    """Yield full names that a module imports; ``from a import b`` yields ``a.b``, which may be a module or a name in one."""
    for node in source.nodes if lazy else _outside_functions(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")
            above = above[: len(above) - node.level + source.path.endswith("__init__.py")] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from _outside_functions(child)


def _nearest(target: str, modules: Mapping[str, object]) -> str | None:
    """Return the module that a full name lies in: itself, or its parent when it is a name in a module."""
    if target in modules:
        return target
    parent = target.rpartition(".")[0]
    return parent if parent in modules else None
