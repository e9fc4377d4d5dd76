"""A backend from another package, found by its entry point and flown from the command line."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.flights import RIG
from uavsim.environment import python_command

pytestmark = pytest.mark.release

BACKEND = Path(__file__).parents[1] / "simulate" / "paper_backend.py"
ENTRY_POINTS = "[uavsim.backends]\npaper = paper_backend:PAPER\n"


def install(folder: Path) -> dict[str, str]:
    """Lay out the package as an installer does; returns the environment variables that make it importable."""
    folder.mkdir()
    shutil.copy(BACKEND, folder)
    info = folder / "paper-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paper\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return {**os.environ, "PYTHONPATH": str(folder)}


def test_plugin_backend_makes_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "rig.yaml").write_text(RIG)
    words = ["--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "2", "--topology", "paper"]
    command = python_command("uavsim", "generate", *words, "--rig", str(tmp_path / "rig.yaml"), "--no-check")
    env = install(tmp_path / "site")
    out = tmp_path / "out"
    done = subprocess.run(
        [*command, "--out", str(out)], env=env, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (scene,) = json.loads((out / "v1.0-mini/scene.json").read_text())
    (log,) = json.loads((out / "v1.0-mini/log.json").read_text())
    assert scene["nbr_samples"] == 2
    assert (log["uav_topology"], log["uav_simulator"]) == ("paper", "paper")
    assert len(list((out / "samples").rglob("*.png"))) == 2 * 5 * 3
