"""Run a long trial by its name, or list them: ``scripts/trial [NAME [ARGUMENTS]]``.

A trial is a module in one of ``FOLDERS`` whose docstring says ``scripts/trial NAME`` in a line of its own. Its ``main`` prints
what it found and returns 0 only if everything held; ``scripts/trial NAME --help`` reports its arguments.
"""

import ast
import difflib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.common import ROOT

FOLDERS: Final = {  # of trials -> where their imports begin
    "tools/trials": ".",
    "tests/hostile": ".",
    "packages/headless_simulator/conformance": "packages/headless_simulator",
    "packages/benchmarks/tests/trials": "packages/benchmarks/tests",
    "packages/baselines/train_trials": "packages/baselines",
}
PYTHONS: Final = {"packages/baselines": ".venv-train/bin/python"}
_NAME: Final = re.compile(r"^\s*`*scripts/trial ([\w-]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial.

    Attributes:
        path: of its file, from the repository's root.
        base: folder at which its imports begin.
        summary: the first line of its docstring.
    """

    path: Path
    base: str
    summary: str

    @property
    def module(self) -> str:
        """Return the name by which it is imported."""
        return ".".join(self.path.relative_to(self.base).with_suffix("").parts)


def find_trials(root: Path = ROOT) -> dict[str, Trial]:
    """Return the trials by their names."""
    found = {}
    for folder, base in FOLDERS.items():
        for path in (root / folder).rglob("*.py"):
            reported = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
            name = _NAME.search(reported)
            if name and path.name not in {"__init__.py", "__main__.py"}:
                found[name[1]] = Trial(path.relative_to(root), base, reported.splitlines()[0])
    return dict(sorted(found.items()))


def listing(trials: Mapping[str, Trial]) -> str:
    """Return a line for each trial."""
    return "".join(f"{name:18} {trial.summary}\n" for name, trial in trials.items())


def main() -> None:
    """Become the trial, or list all."""
    trials, words = find_trials(), sys.argv[1:]
    if not words or words[0] in {"-h", "--help"}:
        sys.stdout.write((__doc__ or "").splitlines()[0] + "\n\n" + listing(trials))
        return
    trial = trials.get(words[0])
    if trial is None:
        near = difflib.get_close_matches(words[0], trials, n=1)
        sys.exit(
            f"error: no trial {words[0]}" + (f"; did you mean {near[0]}?" if near else "; scripts/trial lists them")
        )
    python = ROOT / PYTHONS.get(trial.base, ".venv/bin/python")
    if not python.exists():
        sys.exit(f"error: {words[0]} needs {python.relative_to(ROOT)}; run: scripts/setup --train")
    paths = os.pathsep.join({str(ROOT): "", str(ROOT / trial.base): ""})
    os.execve(
        python,
        [str(python), "-m", "tools.trials.program", trial.module, *words[1:]],
        {**os.environ, "PYTHONPATH": paths},
    )


if __name__ == "__main__":
    main()
