"""Interpreters of further environments, in which third-party programs read uavsim's output."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_NO_WINDOW = os.environ | {"MPLBACKEND": "agg"}
SETUP = {"judge": "", "readers": " --readers", "torch": " --torch-readers", "fiftyone": " --fiftyone"}


def python_of(environment: str) -> Path:
    """Return the interpreter of an environment; skip the test without one."""
    python = ROOT / f".venv-{environment}/bin/python"
    if not python.exists():
        pytest.skip(f"no .venv-{environment} here; scripts/setup{SETUP[environment]} makes it")
    return python


def printed_by(environment: str, script: str, *arguments: object) -> str:
    """Run a script in an environment; return its output."""
    command = [str(python_of(environment)), "-W", "ignore", "-c", script, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=_NO_WINDOW)
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout
