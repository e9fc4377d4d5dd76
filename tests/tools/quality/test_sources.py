import ast
import subprocess
from pathlib import Path

import pytest

from tools.quality.__main__ import passed_limits, programs_without_ending
from tools.quality.sources import Source, functions_of, read_sources


def source(path: str, text: str) -> Source:
    return Source(path, text, ast.parse(text))


def test_a_kernel_may_be_long_and_another_function_not() -> None:
    long = "def f():\n" + "    pass\n" * 90
    assert list(passed_limits([source("a.py", long)])) == ["a.py:1: f: 91 lines, at most 80"]
    assert list(passed_limits([source("a.py", "@njit(cache=True)\n" + long)])) == []


def test_a_long_module_and_a_room_that_says_nothing() -> None:
    found = list(passed_limits([source("a.py", "x = 1\n" * 401), source("room/__init__.py", "x = 1\n")]))
    assert found == ["a.py: 401 lines, at most 400", "room/__init__.py: does not say what belongs in this room"]


def test_functions_are_measured_from_def_to_their_last_line() -> None:
    (function,) = functions_of(source("a.py", "@dataclass\n@other\ndef f():\n    x = 1\n\n    return x\n"))
    assert (function.name, function.line, function.length, function.compiled) == ("f", 3, 4, False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/ignored.py").write_text("not python at all (")
    (tmp_path / "a.py").write_text("x = 1\n")
    return tmp_path


def test_files_that_git_ignores_are_not_read(checkout: Path) -> None:
    assert [s.path for s in read_sources(checkout)] == ["a.py"]


def test_a_python_program_without_an_ending_is_named_and_a_shell_script_is_not(checkout: Path) -> None:
    (checkout / "tool").write_text("#!/usr/bin/env python3\nprint(1)\n")
    (checkout / "shell").write_text("#!/usr/bin/env bash\nexec python -m tool\n")
    (named,) = programs_without_ending(checkout)
    assert named.startswith("tool: a Python program without .py")
