"""Print the house's figures; ends with 1 when a limit is passed.

    scripts/house [--list]

Limits: a module has at most 400 lines, a function at most 80 unless numba compiles it, every ``__init__.py`` says in its
docstring what belongs in the room, every Python file ends in ``.py`` (a script without an ending is read by no tool), and no
modules of a package import each other in a circle. Figures without a limit: tests beside modules, duplicates.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tools.quality.beside import modules_by_test
from tools.quality.circles import circles, import_graph
from tools.quality.duplicates import duplicate_functions, duplicate_lines
from tools.quality.sources import PACKAGES, Source, functions_of, read_sources

ROOT: Final = Path(__file__).resolve().parents[2]
MOST_MODULE_LINES: Final = 400
MOST_FUNCTION_LINES: Final = 80
OUTSIDE: Final = ("tools", "judge")


def main() -> int:
    """Print the table, then what passes a limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name modules without tests, lazy circles and duplicates")
    options = parser.parse_args()
    sources = read_sources(ROOT)
    for line in table(sources):
        print(line)
    if options.list:
        for line in details(sources):
            print(line)
    broken = [*passed_limits(sources), *programs_without_ending(ROOT)]
    for line in broken:
        print(f"house: {line}", file=sys.stderr)
    return 1 if broken else 0


def groups(sources: Sequence[Source]) -> dict[str, list[Source]]:
    """Return the sources by what they are part of."""
    parts = {p.name: [s for s in sources if s.path.startswith(p.folder + "/")] for p in PACKAGES}
    parts |= {f"{p.name}'s tests": [s for s in sources if s.path.startswith(p.tests + "/")] for p in PACKAGES}
    return parts | {", ".join(OUTSIDE): [s for s in sources if s.path.startswith(OUTSIDE)]}


def table(sources: Sequence[Source]) -> Iterator[str]:
    """Yield the figures as lines."""
    columns = ("files", "lines", "longest file", "functions", "over 20", "over 80", "longest function")
    yield f"{'':28}" + "".join(f"{column:>17}" for column in columns)
    for name, part in groups(sources).items():
        functions = [function for source in part for function in functions_of(source)]
        sizes = [len(source.lines) for source in part]
        lengths = [function.length for function in functions if not function.compiled]
        over_20 = sum(length > 20 for length in lengths)
        over_80 = sum(length > MOST_FUNCTION_LINES for length in lengths)
        row = (len(part), sum(sizes), max(sizes), len(functions), over_20, over_80, max(lengths))
        yield f"{name:28}" + "".join(f"{value:17}" for value in row)
    yield ""
    for package in PACKAGES:
        found = modules_by_test(sources, package)
        top = circles(import_graph(sources, package, lazy=False))
        every = circles(import_graph(sources, package, lazy=True))
        yield (
            f"{package.name}: {len(found.beside)} of {found.modules} modules have a test of their name beside them, "
            f"{len(found.elsewhere)} elsewhere; import circles {len(top)} ({sum(map(len, top))} modules), "
            f"with imports in functions {len(every)} ({sum(map(len, every))})"
        )
    own = [source for source in sources if not source.is_test]
    functions_twice, lines_twice = duplicate_functions(own), duplicate_lines(own)
    yield (
        f"duplicates outside tests: {len(functions_twice)} functions stand twice, {len(lines_twice)} runs of ten lines "
        f"or more ({sum(run.lines for run in lines_twice)} lines)"
    )


def details(sources: Sequence[Source]) -> Iterator[str]:
    """Yield what the table only counts."""
    for package in PACKAGES:
        found = modules_by_test(sources, package)
        yield from (f"tested elsewhere: {path}" for path in found.elsewhere)
        yield from (f"no test of its name: {path}" for path in found.without)
        yield from (f"circle: {', '.join(c)}" for c in circles(import_graph(sources, package, lazy=True)))
    own = [source for source in sources if not source.is_test]
    yield from (f"twice, {d.lines} lines: {', '.join(d.places)}" for d in duplicate_functions(own))
    yield from (f"equal, {d.lines} lines: {', '.join(d.places)}" for d in duplicate_lines(own))


def passed_limits(sources: Sequence[Source]) -> Iterator[str]:
    """Yield one line for each limit that a source passes."""
    for source in sources:
        if (count := len(source.lines)) > MOST_MODULE_LINES:
            yield f"{source.path}: {count} lines, at most {MOST_MODULE_LINES}"
        for function in functions_of(source):
            if function.length > MOST_FUNCTION_LINES and not function.compiled:
                yield f"{source.path}:{function.line}: {function.name}: {function.length} lines, at most {MOST_FUNCTION_LINES}"
        if source.path.endswith("__init__.py") and not ast.get_docstring(source.tree):
            yield f"{source.path}: does not say what belongs in this room"
    for package in PACKAGES:
        for circle in circles(import_graph(sources, package, lazy=False)):
            yield f"{package.name}: {', '.join(circle)} import each other in a circle"


def programs_without_ending(root: Path) -> Iterator[str]:
    """Yield a line for each tracked file that Python runs but whose name hides it from the tools."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.splitlines():
        path = root / name
        if path.suffix or not path.is_file() or path.is_symlink():
            continue
        with path.open("rb") as file:
            first = file.readline()
        if first.startswith(b"#!") and b"python" in first:
            yield f"{name}: a Python program without .py is neither linted nor type-checked; call a module from a shell script"


if __name__ == "__main__":
    sys.exit(main())
