"""The error tree in the module's docstring equals the classes and their exit codes."""

import ast
import re
from pathlib import Path

from uavsim import errors

ROOT = Path(__file__).parents[1]
DELETES = re.compile(r"([;:,] |\bor |\band )(delete|remove|rm) ")


def test_the_docstring_reports_every_error_with_its_parent_and_exit_code() -> None:
    reported: dict[str, tuple[str, int]] = {}
    above: list[str] = ["Exception"]
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"((?:\|   |    )*)(?:\|-- |`-- )?([A-Z]\w+) +(\d)", line)
        if found:
            depth = line.index(found[2]) // 4
            reported[found[2]] = (above[depth], int(found[3]))
            above[depth + 1 :] = [found[2]]
    classes = {name: getattr(errors, name) for name in errors.__all__}
    assert reported == {name: (kind.__mro__[1].__name__, kind.exit_code) for name, kind in classes.items()}


def test_no_message_advises_to_delete() -> None:
    """Remedies never lose data: they move files or choose another path."""
    advice = []
    for file in [*ROOT.glob("uavsim/**/*.py"), *ROOT.glob("packages/*/src/**/*.py")]:
        tree = ast.parse(file.read_text("utf-8"))
        documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        advice += [
            f"{file.relative_to(ROOT)}:{node.lineno}: {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents
            if DELETES.search(node.value)
        ]
    assert advice == []
