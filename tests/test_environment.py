"""Child processes import no modules of the current folder, but the user's installed packages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import uavsim
from uavsim.environment import own_command, python_command
from uavsim.supervise.process import GuardedProcess

PLANTED = ("typer", "numpy", "msgpack", "argparse", "random", "uvicorn", "pydantic", "carla", "airsim", "uavsim")
CHILDREN = {
    "client worker": ("uavsim.capture.client_worker", "--help"),
    "headless simulator": ("headless_simulator", "--help"),
    "calibration": ("uavsim.probing.calibrate", "--help"),
    "Prefect's server": ("prefect", "version"),
}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Return a folder with modules that fail on import."""
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('the planted {name} was imported')\n")
    return tmp_path


@pytest.mark.parametrize("child", CHILDREN)
def test_children_import_nothing_from_the_current_folder(child: str, planted: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with GuardedProcess(python_command(*CHILDREN[child]), log=log, cwd=planted) as process:
        code = process.wait(100)
    assert code == 0, log.read_text()


def test_the_planted_modules_would_be_found(planted: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uavsim.capture.client_worker"], cwd=planted, capture_output=True, text=True, check=False
    )
    assert "the planted" in done.stderr


def test_pythonpath_still_counts(tmp_path: Path) -> None:
    (tmp_path / "of_the_user.py").write_text("print('found')\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(python_command("of_the_user"), env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "found\n"


def test_no_other_place_starts_python_with_a_module() -> None:
    root = Path(uavsim.__file__).parents[1]
    sources = (*root.glob("uavsim/**/*.py"), *root.glob("packages/*/src/uavsim_*/**/*.py"))
    found = {str(p.relative_to(root)) for p in sources if re.search(r"[\"']-m[\"']", p.read_text())}
    assert found == {"uavsim/environment.py"}


def test_a_command_is_named_as_a_shell_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = tmp_path / "my clone/.venv/bin"
    environment.mkdir(parents=True)
    for name in ("python", "uavsim"):
        (environment / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(environment / "python"))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(tmp_path / "my clone")
    assert own_command() == ".venv/bin/uavsim"
    assert own_command("python") == ".venv/bin/python"
    for elsewhere in (tmp_path / "my clone/.venv", environment, Path("/usr")):
        monkeypatch.chdir(elsewhere)
        assert own_command() == ("bin/uavsim" if elsewhere.name == ".venv" else f"'{environment}/uavsim'")
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    assert own_command() == f"'{environment}/uavsim'"
    monkeypatch.setenv("PATH", f"/usr/bin:{environment}")
    assert own_command() == "uavsim"
