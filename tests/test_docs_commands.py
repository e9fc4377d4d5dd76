"""All commands in the pages parse with the real command line, and all Python blocks are valid."""

import re
import shlex
from pathlib import Path

import typer.core
import typer.main

from uavsim.cli import build_app

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("packages/b*/**/*.md")])
BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
APP = typer.main.get_command(build_app())


def commands(text: str) -> list[list[str]]:
    """Return the words of every ``uavsim`` command in the shell blocks of a page, here-documents left out."""
    found = []
    for block in BLOCK.findall(text):
        block = re.sub(r"<<'(\w+)'\n.*?^\1$", "", block.replace("\\\n", " "), flags=re.DOTALL | re.MULTILINE)
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0].rpartition("/")[2] == "uavsim" and "..." not in words:
                found.append(words[1:])
    return found


def parse(words: list[str]) -> None:
    """Parse a command without running it."""
    assert isinstance(APP, typer.core.TyperGroup)
    group = APP.make_context("uavsim", list(words))
    name, command, rest = APP.resolve_command(group, words)
    assert command is not None
    command.make_context(name, rest, parent=group)


def test_commands_of_pages_are_ones_that_the_command_line_takes() -> None:
    for page in PAGES:
        for words in commands(page.read_text("utf-8")):
            try:
                parse(words)
            except Exception as error:
                error.add_note(f"{page.name}: uavsim {shlex.join(words)}")
                raise


def test_many_commands_are_looked_at() -> None:
    every = [words for page in PAGES for words in commands(page.read_text("utf-8"))]
    assert len(every) > 50
    assert {"generate", "view", "report", "publish", "export", "doctor"} <= {words[0] for words in every}


def test_blocks_of_python_are_python() -> None:
    for page in PAGES:
        if page.name != "how-to-add-a-backend.md":  # that page shows pieces of a module
            for number, source in enumerate(PYTHON.findall(page.read_text("utf-8"))):
                compile(source, f"{page.name}:{number}", "exec")
