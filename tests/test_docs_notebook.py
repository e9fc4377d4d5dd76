"""All cells of the notebook run on the demo's dataset, and give the stored output."""

import base64
import json
import os
import shlex
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import uavsim
from tests.other_python import python_of
from uavsim.images.codec import decode_rgb
from uavsim.typing import FloatArray, JsonDict

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs/look-at-a-dataset.ipynb"
DEMO = shlex.split((ROOT / "scripts/demo").read_text("utf-8").partition(".venv/bin/uavsim ")[2])[:-2]  # without --out
RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=200, record_timing=False).execute()
nbformat.write(notebook, sys.argv[2])
"""
MOST_DIFFERENT = 3.0  # grey levels in the mean: JPEG's and a font's own way of rounding


def cell_outputs(path: Path) -> Iterator[tuple[str, str | FloatArray]]:
    """Yield each output of the cells, a text or an (H, W, C) image, with the cell's id."""
    cells: list[JsonDict] = json.loads(path.read_text("utf-8"))["cells"]
    for cell in cells:
        for output in cell.get("outputs", ()):
            if "text" in output:
                yield cell["id"], "".join(output["text"])
            else:
                pixels = decode_rgb(base64.b64decode("".join(output["data"]["image/jpeg"])))
                yield cell["id"], pixels.astype(np.float64)


@pytest.mark.release
@pytest.mark.timeout(600)
def test_the_notebook_shows_what_is_stored_in_it(tmp_path: Path) -> None:
    python = python_of("readers")
    uavsim(*DEMO, "--out", tmp_path / "demo", timeout=400)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *ROOT.glob("packages/*/src"), sysconfig.get_paths()["purelib"]])),
        "UAVSIM_DATA": str(tmp_path / "demo"),
        "HOME": str(tmp_path),
        "IPYTHONDIR": str(tmp_path / "ipython"),
    }
    command = [str(python), "-W", "ignore", "-c", RUN, str(NOTEBOOK), str(tmp_path / "run.ipynb")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    stored, made = list(cell_outputs(NOTEBOOK)), list(cell_outputs(tmp_path / "run.ipynb"))
    assert [cell for cell, _ in stored] == [cell for cell, _ in made]
    assert sum(isinstance(value, np.ndarray) for _, value in made) == 3
    for (cell, old), (_, new) in zip(stored, made, strict=True):
        where = f"cell {cell}: where this is as it should be, keep {tmp_path / 'run.ipynb'}"
        if isinstance(old, str) or isinstance(new, str):
            assert old == new, where
        else:
            assert old.shape == new.shape, where
            assert np.abs(old - new).mean() < MOST_DIFFERENT, where
