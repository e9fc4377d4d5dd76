import subprocess
from pathlib import Path

from tools.quality.__main__ import exceeded_limits, python_files


def test_a_kernel_may_be_long_and_another_function_not() -> None:
    long = "def f():\n" + "    pass\n" * 90
    assert list(exceeded_limits("a.py", long)) == ["a.py:1: f: 91 lines, at most 80"]
    assert list(exceeded_limits("a.py", "@njit(cache=True)\n" + long)) == []


def test_a_long_module_is_named() -> None:
    assert list(exceeded_limits("a.py", "x = 1\n" * 401)) == ["a.py: 401 lines, at most 400"]


def test_files_that_git_ignores_are_not_read(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/ignored.py").write_text("not python at all (")
    (tmp_path / "a.py").write_text("x = 1\n")
    assert python_files(tmp_path) == ["a.py"]
