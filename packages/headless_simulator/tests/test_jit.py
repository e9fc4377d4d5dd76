"""The kernel cache folder depends on all sources of the machine code."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import headless_simulator
import pytest
from headless_simulator import jit

ROOT = Path(headless_simulator.__path__[0])


def covered() -> set[Path]:
    return {path for pattern in jit._SOURCES for path in ROOT.glob(pattern)}


def test_cache_digest_covers_all_kernel_sources() -> None:
    needed = {path: imported(path) for path in ROOT.rglob("*.py")}
    kernels = {path for path, modules in needed.items() if ROOT / "jit.py" in modules and path != ROOT / "cli.py"}
    assert len(kernels) > 20
    assert not {path for path in kernels if {path, *needed[path]} - covered()}


def imported(path: Path) -> set[Path]:
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    names = {name for node in nodes for name in (f"{node.module}", *(f"{node.module}.{a.name}" for a in node.names))}
    files = {ROOT.parent / f"{name.replace('.', '/')}.py" for name in names}
    return {file for file in files if file.is_file() and file.is_relative_to(ROOT)}


def test_cache_folder_depends_on_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    source = tmp_path / "world" / "cells.py"
    source.parent.mkdir()
    found = []
    for text in ("a = 1", "a = 2", "a = 1"):
        source.write_text(text)
        found.append(jit.cache_folder())
    assert found[0] == found[2] != found[1]
    assert found[0].parent == Path("/caches/headless-simulator")


def test_numba_cache_dir_overrides_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere")
    assert jit.cache_folder() == Path("/somewhere")


def test_kernels_run_without_a_writable_cache_folder(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "from headless_simulator.jit import kernel, numba\n"
        "@kernel()\ndef double(x):\n    return 2 * x\n"
        "print(double(21), numba.config.CACHE_DIR)\n"
    )
    env = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    env |= {"XDG_CACHE_HOME": "/dev/null"}
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], env=env, capture_output=True, text=True, check=True
    )
    value, folder = done.stdout.split()
    assert int(value) == 42
    assert not Path(folder).exists()  # removed with its process
