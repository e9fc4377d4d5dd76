"""Print each error message and help text of shipped code, with file and line: ``python -m tools.quality.messages [PATH ...]``.

For reading all of them in one list. Values in f-strings are printed as their expressions in braces.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.common import ROOT

HELPS = {"help", "short_help", "epilog"}
SHIPPED = ("uavsim", "packages/benchmarks/src", "packages/baselines/src", "packages/headless_simulator/src")


def text_of(node: ast.expr) -> str:
    """Return the text of a string expression; values are expressions in braces, other expressions are empty."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(
                f"{{{ast.unparse(v.value)}}}" if isinstance(v, ast.FormattedValue) else text_of(v) for v in values
            )
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left) + text_of(right)
        case ast.IfExp(body=body, orelse=other):
            return " | ".join(filter(None, (text_of(body), text_of(other))))
        case _:
            return ""


def messages(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind (the error's class, or ``help``) and text of each message in a module's source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for part in (*node.exc.args, *(word.value for word in node.exc.keywords)):
                if text := text_of(part):
                    yield node.lineno, ast.unparse(node.exc.func), text
        elif isinstance(node, ast.Call):
            for word in node.keywords:
                if word.arg in HELPS and (text := text_of(word.value)):
                    yield word.value.lineno, "help", text


def main(paths: list[str]) -> int:
    """Print the messages of the given files and folders, or of all shipped code."""
    for path in map(Path, paths or SHIPPED):
        for file in sorted((ROOT / path).rglob("*.py")) if (ROOT / path).is_dir() else [ROOT / path]:
            for line, kind, text in sorted(messages(file.read_text(encoding="utf-8"))):
                sys.stdout.write(f"{file.relative_to(ROOT)}:{line}: {kind}: {' '.join(text.split())}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
