"""The unmodified nuScenes devkit on a dataset: a program of ``devkit/`` in its own environment; its JSON report comes back.

The devkit's packages cannot live beside ours, so nothing here imports them.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Final

from uavsim.errors import InputError, SystemFailure
from uavsim.typing import JsonDict

__all__ = ["PROGRAMS", "devkit_report", "judge_python", "problems_of", "run_judge"]

PYTHON_VARIABLE: Final = "UAVSIM_JUDGE_PYTHON"
PROGRAMS: Final = Path(__file__).with_name("devkit")
_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_REPORTED: Final = frozenset({0, 4})  # good, and not valid; anything else is the judge's own failure


def devkit_report(root: Path, version: str, *, split: str | None = None, images: Path | None = None) -> JsonDict:
    """Let the unmodified nuScenes devkit load, walk, draw and evaluate a strict dataset.

    Args:
        root: the dataset's folder.
        version: its version folder.
        split: evaluate this split of ``splits.json``; default: every scene.
        images: keep the devkit's drawings in this folder.

    Returns:
        ``{"ok": bool, "checks": {name: {"ok": bool, ...}}}``.

    Raises:
        InputError: the judge's environment is not installed.
        SystemFailure: the judge crashed.
    """
    arguments = [str(root.resolve()), version]
    arguments += ["--split", split] if split else []
    arguments += ["--images", str(images.resolve())] if images else []
    return run_judge("devkit_check", *arguments)


def problems_of(report: JsonDict) -> list[str]:
    """Return one line for each check that failed, with what the devkit said."""
    lines = []
    for name, check in report["checks"].items():
        if not check["ok"]:
            figures = [f"{k} {v}" for k, v in check.items() if isinstance(v, (int, float, str)) and k != "ok"]
            reported = check.get("problems") or figures
            lines.append(f"devkit {name}: {'; '.join(map(str, reported[:6]))}")
    return lines


def judge_python() -> Path:
    """Return the judges' interpreter.

    Raises:
        InputError: it is not installed.
    """
    python = Path(os.environ.get(PYTHON_VARIABLE) or _CHECKOUT / ".venv-judge" / "bin" / "python")
    if not python.exists():
        raise InputError(f"{python}: the judges' environment is not there; make it with scripts/setup")
    return python


def run_judge(name: str, *arguments: str, folder: Path = PROGRAMS, timeout_s: float = 6 * 3600) -> JsonDict:
    """Run ``<folder>/<name>.py`` in the judges' environment and return its report.

    Raises:
        InputError: the judge is not installed.
        SystemFailure: it crashed, hung, or printed no report.
    """
    command = [str(judge_python()), str(folder / f"{name}.py"), *arguments]
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
