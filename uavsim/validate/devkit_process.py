"""Run programs of ``devkit/`` with the unmodified nuScenes devkit in an environment of its own, and read their JSON reports.

The devkit's dependencies conflict with uavsim's; this module does not import them.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Final

from uavsim.errors import InputError, SystemFailure
from uavsim.typing import JsonDict

PYTHON_VARIABLE: Final = "UAVSIM_JUDGE_PYTHON"
PROGRAMS: Final = Path(__file__).with_name("devkit")
_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_TIMEOUT_S: Final = 6 * 3600
_REPORTED: Final = frozenset({0, 4})  # valid and invalid; any other code is a failure of the program


def devkit_report(root: Path, version: str, *, images: Path | None = None) -> JsonDict:
    """Load, walk, draw and evaluate a strict dataset with the unmodified nuScenes devkit.

    Args:
        root: the dataset's folder.
        version: its version folder.
        images: folder for the devkit's drawings; default: temporary.

    Returns:
        ``{"ok": bool, "checks": {name: {"ok": bool, ...}}}``.

    Raises:
        InputError: the devkit environment is not installed.
        SystemFailure: the devkit program crashed.
    """
    arguments = [str(root.resolve()), version]
    arguments += ["--images", str(images.resolve())] if images else []
    return run_judge("devkit_check", *arguments)


def problems_of(report: JsonDict) -> list[str]:
    """Return one line for each failed check, with its problems or figures."""
    lines = []
    for name, check in report["checks"].items():
        if not check["ok"]:
            figures = [f"{k} {v}" for k, v in check.items() if isinstance(v, (int, float, str)) and k != "ok"]
            reported = check.get("problems") or figures
            lines.append(f"devkit {name}: {'; '.join(map(str, reported[:6]))}")
    return lines


def judge_python() -> Path:
    """Return the interpreter of the devkit environment.

    Raises:
        InputError: the environment is not installed.
    """
    python = Path(os.environ.get(PYTHON_VARIABLE) or _CHECKOUT / ".venv-judge" / "bin" / "python")
    if not python.exists():
        raise InputError(f"{python}: the devkit environment is missing; create it with scripts/setup")
    return python


def run_judge(name: str, *arguments: str, folder: Path = PROGRAMS) -> JsonDict:
    """Run ``<folder>/<name>.py`` in the devkit environment and return its report.

    Raises:
        InputError: the devkit environment is not installed.
        SystemFailure: the devkit program crashed, hung, or printed no report.
    """
    command = [str(judge_python()), str(folder / f"{name}.py"), *arguments]
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        raise SystemFailure(f"devkit program {name} exceeded {_TIMEOUT_S} s; check fewer scenes") from error
    try:
        report = json.loads(done.stdout)
    except ValueError as error:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SystemFailure(f"devkit program {name} failed with exit code {done.returncode}: {last}") from error
    if done.returncode not in _REPORTED or not isinstance(report, dict):
        raise SystemFailure(f"devkit program {name} ended with exit code {done.returncode}")
    return report
