"""Trials are found by what their docstrings say, and run with the imports of their folder."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

from tools.common import ROOT
from tools.trials.__main__ import find_trials

TRIALS = find_trials()


@pytest.mark.parametrize("name", TRIALS)
def test_a_trial_is_named_as_its_module_or_folder(name: str) -> None:
    path = TRIALS[name].path
    assert name.replace("-", "_") in (path.stem, path.parent.name), path


@pytest.mark.parametrize("name", TRIALS)
def test_a_trial_is_started_by_its_main(name: str) -> None:
    assert re.search(r"^def main\(", (ROOT / TRIALS[name].path).read_text(), re.MULTILINE)


def test_whoever_starts_a_trials_module_does_it_by_the_program() -> None:
    modules = {trial.module for trial in TRIALS.values() if "conformance" not in trial.path.parts}
    for path in (path for folder in ("tools", "tests", "packages") for path in (ROOT / folder).rglob("*.py")):
        started = re.findall(r'"-m",\s*"([\w.]+)"', path.read_text())
        assert not modules & set(started), path


def test_programs_of_every_folder_are_there() -> None:
    assert {"kill", "fuzz", "airlib", "load-world", "overfit"} <= TRIALS.keys()


def test_a_trial_is_found_where_python_looks_for_it() -> None:
    assert TRIALS["airlib"].module == "conformance.airlib.compare"
    assert importlib.util.find_spec(TRIALS["kill"].module) is not None


def test_a_name_that_is_none_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / "scripts/trial", "kil"], cwd=tmp_path, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (1, "error: no trial kil; did you mean kill?\n")
