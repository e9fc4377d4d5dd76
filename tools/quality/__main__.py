"""Name modules over 400 lines and functions over 80, but kernels that numba compiles; ends with 1 if there are any."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.common import ROOT

MOST_MODULE_LINES: Final = 400
MOST_FUNCTION_LINES: Final = 80
_KERNELS: Final = ("jit", "kernel")  # in a decorator's name: loops that cannot be split without a cost


def python_files(root: Path) -> list[str]:
    """Return the Python files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "*.py"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if (root / name).is_file()]


def exceeded_limits(name: str, text: str) -> Iterator[str]:
    """Yield a line for each limit that a file exceeds; a function counts from ``def`` to its last line."""
    if (count := len(text.splitlines())) > MOST_MODULE_LINES:
        yield f"{name}: {count} lines, at most {MOST_MODULE_LINES}"
    for node in ast.walk(ast.parse(text, name)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        compiled = any(mark in ast.unparse(d) for d in node.decorator_list for mark in _KERNELS)
        if length > MOST_FUNCTION_LINES and not compiled:
            yield f"{name}:{node.lineno}: {node.name}: {length} lines, at most {MOST_FUNCTION_LINES}"


def main() -> int:
    """Print them."""
    found = [line for name in python_files(ROOT) for line in exceeded_limits(name, (ROOT / name).read_text("utf-8"))]
    sys.stderr.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
