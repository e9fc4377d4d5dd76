"""Print the texts of shipped code for users, with file and line: ``python -m tools.quality.messages [PATH ...]``.

These are error messages, help, findings and notes, for reading in one list. Values in f-strings are expressions in braces.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.common import ROOT

HELPS = {"help", "short_help", "epilog", "description"}
SHIPPED = ("uavsim", "packages/benchmarks/src", "packages/baselines/src", "packages/headless_simulator/src")
SENTENCE = re.compile(r"[A-Za-z']+[,:;)]* [a-z('-]+[,:;)]* [a-z(]")


def text_of(node: ast.AST) -> str:
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


def messages(node: ast.AST, kind: str = "text", *, short: bool = False) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind (the called class or function, ``help``, or ``text``) and text of each message below a node.

    Texts of fewer than three words are left out, except help and, with ``short``, all; docstrings are left out.
    """
    if isinstance(node, ast.expr) and (text := text_of(node)):
        if short or kind == "help" or SENTENCE.search(re.sub(r"\{.*?\}", "x", text)):
            yield node.lineno, kind, text
        return
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Raise(exc=ast.Call(func=func) as call):
                yield from messages(call, ast.unparse(func), short=True)
            case ast.Call(func=ast.Name() | ast.Attribute() as func):
                yield from messages(child, ast.unparse(func))
            case ast.keyword(arg=str(word)) if word in HELPS:
                yield from messages(child, "help")
            case _:
                yield from messages(child, kind, short=short)


def main(paths: list[str]) -> int:
    """Print the messages of the given files and folders, or of all shipped code."""
    for path in map(Path, paths or SHIPPED):
        for file in sorted((ROOT / path).rglob("*.py")) if (ROOT / path).is_dir() else [ROOT / path]:
            for line, kind, text in sorted(messages(ast.parse(file.read_text(encoding="utf-8")))):
                sys.stdout.write(f"{file.relative_to(ROOT)}:{line}: {kind}: {' '.join(text.split())}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
