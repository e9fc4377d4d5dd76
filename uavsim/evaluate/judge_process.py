"""Run an outside judge: a script of ``judge/`` in its own environment, as a process; its JSON report comes back.

The judges' packages (nuscenes-devkit and what it pins) cannot live beside ours, so nothing here imports them.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Final

from uavsim.errors import InputError, SystemFailure
from uavsim.typing import JsonDict

__all__ = ["judge_python", "run_judge"]

PYTHON_VARIABLE: Final = "UAVSIM_JUDGE_PYTHON"
FOLDER_VARIABLE: Final = "UAVSIM_JUDGE_FOLDER"
_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_REPORTED: Final = frozenset({0, 4})  # good, and not valid; anything else is the judge's own failure


def judge_python() -> Path:
    """Return the judges' interpreter.

    Raises:
        InputError: it is not installed.
    """
    python = Path(os.environ.get(PYTHON_VARIABLE) or _CHECKOUT / ".venv-judge" / "bin" / "python")
    if not python.exists():
        raise InputError(f"{python}: the judges' environment is not there; make it with scripts/setup")
    return python


def judge_script(name: str) -> Path:
    """Return the script ``judge/<name>.py``.

    Raises:
        InputError: uavsim was installed without its checkout.
    """
    script = Path(os.environ.get(FOLDER_VARIABLE) or _CHECKOUT / "judge") / f"{name}.py"
    if not script.is_file():
        raise InputError(f"{script}: not there; judges run from a checkout of uavsim, or set {FOLDER_VARIABLE}")
    return script


def run_judge(name: str, *arguments: str, timeout_s: float = 6 * 3600) -> JsonDict:
    """Run ``judge/<name>.py`` and return its report.

    Raises:
        InputError: the judge is not installed.
        SystemFailure: it crashed, hung, or printed no report.
    """
    command = [str(judge_python()), str(judge_script(name)), *arguments]
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        raise SystemFailure(f"judge {name} did not end within {timeout_s:.0f} s; judge fewer scenes") from error
    try:
        report = json.loads(done.stdout)
    except ValueError as error:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SystemFailure(f"judge {name} failed with exit code {done.returncode}: {last}") from error
    if done.returncode not in _REPORTED or not isinstance(report, dict):
        raise SystemFailure(f"judge {name} ended with exit code {done.returncode}")
    return report
