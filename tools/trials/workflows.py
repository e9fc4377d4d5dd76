"""Run the commands of our workflows and of the action as GitHub would, in a clone, and list what cannot run here and why.

    scripts/trial workflows [--only WORKFLOW] [--everything] [--work FOLDER]

Each job gets a clone of the last commit and a bare environment, as ``actions/checkout`` and ``actions/setup-python`` give it.
Whole test suites run elsewhere and are left out, unless ``--everything`` is said. Exit code 1 if a command fails.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from tools.common import ROOT
from uavsim.typing import JsonDict

FOLDER: Final = ROOT / ".github"
LEFT_OUT: Final = {  # begin of a command -> why it does not run
    "gh ": "it makes a release at GitHub, with GitHub's key",
}
WHOLE_SUITES: Final = {
    ".ci/run": "the whole test suite, which runs with every change; --everything runs it here",
    "scripts/test": "the whole test suite; --everything runs it here",
}
STAND_INS: Final = {
    ".ci/run": "scripts/setup ours"
}  # what is left out -> what makes the environment that later steps use
USED: Final = {  # actions of others -> why they do not run, or what stands for them
    "actions/checkout": "a clone of the last commit stands for it",
    "actions/setup-python": "a bare environment of this Python stands for it",
    "actions/cache": "keeps files at GitHub",
    "actions/upload-artifact": "keeps files at GitHub",
    "actions/upload-pages-artifact": "keeps files at GitHub",
    "actions/deploy-pages": "publishes the site at GitHub",
    "pypa/gh-action-pypi-publish": "publishes on the Python index, by GitHub's word",
}
_EXPRESSION: Final = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")


def main() -> int:
    """Run the jobs, one after the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="name of a workflow: docs, nightly, release, tests or wheels")
    parser.add_argument("--everything", action="store_true", help="whole test suites, too")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-workflows-"))
    left_out = LEFT_OUT if options.everything else LEFT_OUT | WHOLE_SUITES
    failed = 0
    for path in sorted((FOLDER / "workflows").glob("*.yml")):
        for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items():
            if options.only in {"", path.stem}:
                print(f"{path.stem}: {name}", flush=True)
                failed += _Job(work / f"{path.stem}-{name}", left_out).run(job["steps"])
    return 1 if failed else 0


class _Job:
    """One job's clone, environment and variables."""

    def __init__(self, work: Path, left_out: dict[str, str]) -> None:
        self._clone, self._left_out = work / "clone", left_out
        work.mkdir(parents=True)
        subprocess.run(["git", "clone", "--quiet", ROOT, self._clone], check=True)
        subprocess.run([sys.executable, "-m", "venv", work / "python"], check=True)
        files = {name: str(work / name) for name in ("GITHUB_OUTPUT", "GITHUB_ENV")}
        for file in files.values():
            Path(file).touch()
        self._env = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
        self._env |= files | {"RUNNER_TEMP": str(work), "PATH": f"{work / 'python/bin'}:{os.environ['PATH']}"}

    def run(self, steps: list[JsonDict]) -> int:
        """Run the steps, those of our action in its place; returns how many failed."""
        failed = 0
        try:
            for step in self._opened(steps):
                failed += 0 if self._step(step) else 1
        finally:
            if pid := self._env.get("HEADLESS_CARLA_PID"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGTERM)
        return failed

    def _opened(self, steps: list[JsonDict]) -> Iterator[JsonDict]:
        for step in steps:
            uses = step.get("uses", "")
            if not uses.startswith("./"):
                yield step
                continue
            folder = self._clone / uses
            action = yaml.safe_load((folder / "action.yml").read_text("utf-8"))
            given = {name: entry["default"] for name, entry in action["inputs"].items()} | step.get("with", {})
            inputs = {f"inputs.{name}": str(value) for name, value in given.items()}
            for inner in action["runs"]["steps"]:
                env = {name: _filled(value, inputs) for name, value in inner.get("env", {}).items()}
                yield inner | {"env": env | {"GITHUB_ACTION_PATH": str(folder)}}

    def _step(self, step: JsonDict) -> bool:
        if "uses" in step:
            action = step["uses"].partition("@")[0]
            print(f"  left out      {action}: {USED[action]}", flush=True)
            return True
        command = step["run"]
        shown = " ".join(command.split())[:100]
        for begin, reason in self._left_out.items():
            if command.startswith(begin):
                print(f"  left out      {shown}: {reason}", flush=True)
                if begin not in STAND_INS:
                    return True
                command = shown = STAND_INS[begin]
                break
        began = time.monotonic()
        with (self._clone.parent / "log").open("ab") as log:
            shell = ["bash", "-e", "-o", "pipefail", "-c", command]
            env = self._env | step.get("env", {})
            done = subprocess.run(shell, cwd=self._clone, env=env, stdout=log, stderr=log, check=False)
        for line in Path(self._env["GITHUB_ENV"]).read_text("utf-8").splitlines():
            name, _, value = line.partition("=")
            self._env[name] = value
        good = done.returncode == 0
        seen = "" if good else f" (exit code {done.returncode}, see {self._clone.parent / 'log'})"
        print(f"  {'good' if good else 'BAD '} {time.monotonic() - began:5.0f} s  {shown}{seen}", flush=True)
        return good


def _filled(value: str, inputs: dict[str, str]) -> str:
    """Return a value with the action's inputs in the places of their expressions."""
    return _EXPRESSION.sub(lambda found: inputs[found[1]], value)
