"""The code can print every message quoted in a page."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from uavsim.config.library import Library
from uavsim.errors import UnknownNameError

ROOT = Path(__file__).parents[1]
PAGES = ("troubleshooting.md", "real-simulators.md")
QUOTED = re.compile(r"^```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LEAST_LETTERS = 7  # a text of fewer, such as "{a}: {b}", would match everything


def _pattern(node: ast.expr) -> str:
    """Return a regular expression of the possible values of a string in the code."""
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value))
    if isinstance(node, ast.JoinedStr):
        return "".join(_pattern(part) for part in node.values)
    return ".+?"


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    found = set()
    for path in (*ROOT.glob("uavsim/**/*.py"), *ROOT.glob("packages/*/src/uavsim_*/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                said = _pattern(node)
                if sum(map(str.isalpha, said)) >= _LEAST_LETTERS and " " in said:
                    found.add(said)
    return tuple(map(re.compile, found))


def in_code(message: str) -> bool:
    return any(pattern.fullmatch(message) for pattern in patterns())


def quoted(name: str) -> list[str]:
    text = (ROOT / "docs" / name).read_text("utf-8")
    return [line.removeprefix("error: ") for block in QUOTED.findall(text) for line in block.splitlines() if line]


@pytest.mark.parametrize("name", PAGES)
def test_messages_of_a_page_are_those_of_the_code(name: str) -> None:
    assert quoted(name)
    assert [message for message in quoted(name) if not in_code(message)] == []


def test_the_first_message_is_the_programs_own() -> None:
    with pytest.raises(UnknownNameError) as wrong:  # its pattern has a gap for "dataset" and fits any word
        Library.of().dataset("smok")
    assert quoted("troubleshooting.md")[0] == str(wrong.value)
