import ast

from tools.quality.circles import circles, import_graph
from tools.quality.sources import Package, Source

PACKAGE = Package("p", "p", "tests")


def sources(**files: str) -> list[Source]:
    paths = {name.replace("__", "/", 1) if name != "init" else "__init__": text for name, text in files.items()}
    return [Source(f"p/{path}.py", text, ast.parse(text)) for path, text in paths.items()]


def test_two_modules_that_import_each_other() -> None:
    graph = import_graph(sources(a="from p import b", b="import p.a"), PACKAGE, lazy=False)
    assert graph == {"p.a": {"p.b"}, "p.b": {"p.a"}}
    assert circles(graph) == [["p.a", "p.b"]]


def test_a_name_in_a_module_is_that_module_and_a_relative_import_is_resolved() -> None:
    graph = import_graph(
        sources(room__a="from .b import thing", room__b="from p.c import x", c=""), PACKAGE, lazy=False
    )
    assert graph == {"p.room.a": {"p.room.b"}, "p.room.b": {"p.c"}, "p.c": set()}
    assert circles(graph) == []


def test_type_checking_imports_count_and_those_in_functions_when_asked_for() -> None:
    checking = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import B"
    files = sources(a=checking, b="def f():\n    from p.a import A")
    assert circles(import_graph(files, PACKAGE, lazy=False)) == []
    assert circles(import_graph(files, PACKAGE, lazy=True)) == [["p.a", "p.b"]]


def test_a_circle_of_three_and_one_beside_it() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert circles(graph) == [["a", "b", "c"], ["d", "e"]]
