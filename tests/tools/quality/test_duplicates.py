import ast

from tools.quality.duplicates import duplicate_functions, duplicate_lines
from tools.quality.sources import Source

ONE = '''
def mean_of(values: list[float], start: float) -> float:
    """Return the mean."""
    total, count = start, 0
    for value in values:
        if value > 3 and value < 7:
            total = total + value * 2 - start
            count = count + 1
    return total / max(count, 1) if count else start - 1
'''
RENAMED = (
    ONE.replace("values", "rows")
    .replace("total", "s")
    .replace("mean_of", "g")
    .replace('"""Return the mean."""', "pass")
)


def source(path: str, text: str) -> Source:
    return Source(path, text, ast.parse(text))


def test_names_and_docstrings_do_not_hide_that_a_function_stands_twice() -> None:
    found = duplicate_functions([source("a.py", ONE), source("b.py", RENAMED.replace("    pass\n", ""))])
    assert [(d.places, d.lines) for d in found] == [(("a.py:2", "b.py:2"), 8)]


def test_another_constant_is_another_function() -> None:
    assert duplicate_functions([source("a.py", ONE), source("b.py", ONE.replace("7", "8"))]) == []


def test_equal_lines_are_one_duplicate_however_long_they_are() -> None:
    lines = "\n".join(f"x{k} = {k} * 17" for k in range(14))
    found = duplicate_lines([source("a.py", "import os\n\n" + lines), source("b.py", f'"""Text."""\ny = 1\n{lines}\n')])
    assert [(d.places, d.lines) for d in found] == [(("a.py:3", "b.py:3"), 14)]


def test_nine_equal_lines_are_none() -> None:
    lines = "\n".join(f"x{k} = {k} * 17" for k in range(9))
    assert duplicate_lines([source("a.py", lines), source("b.py", lines)]) == []
