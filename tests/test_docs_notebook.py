"""The notebook runs from its first cell to its last: the devkit and uavsim in one kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.dataset_factory import make_dataset

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs/look-at-a-dataset.ipynb"
READERS = ROOT / ".venv-readers/bin/python"
RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=200).execute()
nbformat.write(notebook, sys.argv[2])
"""


def test_the_notebook_runs_and_draws(tmp_path: Path) -> None:
    if not READERS.exists():
        pytest.skip("no .venv-readers here; scripts/setup --readers makes it")
    data = make_dataset(tmp_path / "data", samples=2, sweeps=1, drones=3)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), sysconfig.get_paths()["purelib"]]),
        "UAVSIM_DATA": str(data),
        "HOME": str(tmp_path),
        "IPYTHONDIR": str(tmp_path / "ipython"),
    }
    command = [str(READERS), "-W", "ignore", "-c", RUN, str(NOTEBOOK), str(tmp_path / "run.ipynb")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    outputs = [
        output
        for cell in json.loads((tmp_path / "run.ipynb").read_text())["cells"]
        for output in cell.get("outputs", [])
    ]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3
    text = "".join("".join(output.get("text", "")) for output in outputs)
    assert "2 scenes, 4 samples" in text
    assert "corners differ by at most" in text


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
