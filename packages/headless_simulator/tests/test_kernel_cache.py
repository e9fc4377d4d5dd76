"""Machine code of another source is never run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import headless_simulator
import pytest
from headless_simulator import kernel_cache
from headless_simulator.kernel_cache import LEVELS, shipped_folder, sources_stamp

PACKAGE = Path(headless_simulator.__file__).parent

CALLEE = """
from headless_simulator.compiled import kernel

@kernel()
def half(x: float) -> float:
    return x / 2
"""
AGAIN = "from headless_simulator.callee import half as half\n"
CALLER = """
from headless_simulator.again import (
    half,
)
from headless_simulator.compiled import kernel

@kernel()
def use(x: float) -> float:
    return half(x) + 1
"""


def run(home: Path, **variables: str) -> tuple[float, int]:
    """Return what the kernel gives, and how often its machine code was found."""
    command = "from headless_simulator.caller import use; print(use(8.0), sum(use.stats.cache_hits.values()))"
    env = os.environ | {"XDG_CACHE_HOME": str(home.parent / "cache"), "TMPDIR": str(home.parent)} | variables
    done = subprocess.run(
        [sys.executable, "-c", command], check=True, capture_output=True, text=True, cwd=home, env=env
    )
    given, found = done.stdout.split()
    return float(given), int(found)


def environment(home: Path) -> Path:
    package = home / "headless_simulator"
    package.mkdir(parents=True)
    for name in ("__init__.py", "compiled.py", "kernel_cache.py"):
        shutil.copy(PACKAGE / name, package)
    for name, text in (("callee.py", CALLEE), ("again.py", AGAIN), ("caller.py", CALLER)):
        (package / name).write_text(text)
    return home


def test_a_second_environment_compiles_nothing_and_damaged_code_is_compiled_anew(tmp_path: Path) -> None:
    assert run(environment(tmp_path / "one")) == (5.0, 0)
    assert run(environment(tmp_path / "two")) == (5.0, 1)

    for kept in (tmp_path / "cache").rglob("*use-*.nbc"):
        kept.write_bytes(kept.read_bytes()[:-1] + b"\0\0")

    assert run(tmp_path / "two") == (5.0, 0)
    assert run(tmp_path / "one") == (5.0, 1)


def test_code_that_others_could_have_written_is_not_run(tmp_path: Path) -> None:
    run(environment(tmp_path / "one"))
    for folder in (tmp_path / "cache/uavsim/machine-code").iterdir():
        folder.chmod(0o777)
    assert run(environment(tmp_path / "two")) == (5.0, 0)


def test_code_that_came_with_the_package_is_run_if_it_is_whole(tmp_path: Path) -> None:
    home = environment(tmp_path / "one")
    level, features = next(iter(LEVELS.items()))
    assert run(home, NUMBA_CPU_NAME=level, NUMBA_CPU_FEATURES=features) == (5.0, 0)
    (made,) = (tmp_path / "cache/uavsim/machine-code").iterdir()
    shipped = home / "headless_simulator" / shipped_folder(level).relative_to(PACKAGE)
    shutil.move(made, shipped)

    assert run(home) == (5.0, 1)
    assert not [*(tmp_path / "cache").rglob("*.nbc")]  # nothing was compiled

    for kept in shipped.rglob("*use-*.nbc"):
        kept.write_bytes(kept.read_bytes()[:-1] + b"\0\0")
    assert run(home) == (5.0, 0)


def test_code_of_a_level_is_for_processors_that_have_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (level, features), *_ = LEVELS.items()
    has = dict.fromkeys(features.replace("+", "").split(","), True)
    monkeypatch.setattr(kernel_cache, "shipped_folder", lambda _: tmp_path)

    monkeypatch.setattr(kernel_cache, "get_host_cpu_features", lambda: {**has, "amx-tile": True})
    assert kernel_cache.shipped_folders.__wrapped__() == {level: tmp_path}
    monkeypatch.setattr(kernel_cache, "get_host_cpu_features", lambda: {**has, "avx2": False})
    assert kernel_cache.shipped_folders.__wrapped__() == {}


def test_code_of_a_level_is_not_what_a_variable_of_numba_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "shipped_folder", lambda _: tmp_path)
    monkeypatch.setenv("NUMBA_OPT", "2")
    assert kernel_cache.shipped_folders.__wrapped__() == {}


def test_a_change_in_what_a_kernel_calls_is_a_change_of_the_kernel(tmp_path: Path) -> None:
    home = environment(tmp_path / "home")
    package = home / "headless_simulator"
    assert run(home) == (5.0, 0)
    assert run(home) == (5.0, 1)

    (package / "callee.py").write_text(CALLEE.replace("x / 2", "x / 4"))

    assert run(home) == (3.0, 0)


def test_a_stamp_knows_what_a_kernel_is_made_of_and_not_more() -> None:
    contact = PACKAGE / "airsim/contact.py"

    assert sources_stamp(contact) == sources_stamp(contact)
    assert sources_stamp(contact) != sources_stamp(PACKAGE / "world/contact.py")


def test_a_user_without_a_home_keeps_machine_code_in_a_temporary_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder can be made here")
    assert run(environment(tmp_path / "one")) == (5.0, 0)
    assert run(environment(tmp_path / "two")) == (5.0, 1)

    (tmp_path / f"uavsim-{os.getuid()}").chmod(0o777)
    assert run(environment(tmp_path / "three")) == (5.0, 0)
