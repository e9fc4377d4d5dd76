"""All commands of the tutorial run in sequence in an empty folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYTHON_OF = {"nuscenes": ".venv-judge", "datasets": ".venv-readers", "uavsim": ".venv"}
"""First import of a block -> the environment that has it."""


def blocks() -> list[tuple[str, str]]:
    """Return the blocks of the page in order, without installation."""
    found: list[tuple[str, str]] = BLOCK.findall((ROOT / "docs/tutorial.md").read_text("utf-8"))
    assert "scripts/setup" in found[0][1]
    return [(kind, source) for kind, source in found if "scripts/setup" not in source]


def environment(home: Path) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    hub = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    return inherited | hub | {"PATH": path}


def run_block(kind: str, source: str, folder: Path, home: Path) -> str:
    command = ["bash", "-euo", "pipefail", "-c", source]
    if kind == "python":
        (module,) = set(re.findall(r"^(?:from|import) (\w+)", source, flags=re.MULTILINE))
        python = ROOT / PYTHON_OF[module] / "bin/python"
        if not python.exists():
            pytest.skip(f"no {PYTHON_OF[module]} here; scripts/setup --readers makes it")
        command = [str(python), "-W", "ignore", "-c", source]
    run = subprocess.run(command, cwd=folder, env=environment(home), capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{source}\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}"
    return run.stdout


@pytest.mark.release
def test_the_tutorial_from_its_second_step_to_its_last(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.copytree(ROOT / "flight_plans/.schemas", folder / "flight_plans/.schemas")
    outputs = [run_block(kind, source, folder, tmp_path / "home") for kind, source in blocks()]
    out = folder / "out"
    assert (out / "tutorial.html").stat().st_size > 100_000
    assert (out / "tutorial.rrd").stat().st_size > 100_000
    assert (out / "tutorial-pack/croissant.json").is_file()
    assert "files are as they were published" in "".join(outputs)
    assert len(list((out / "tutorial-arrow/samples").glob("CAMERA_*"))) == 3 * 5
