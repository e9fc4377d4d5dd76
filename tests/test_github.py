"""Workflows, forms and the action are valid for GitHub, and the commands of their steps exist."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from uavsim.typing import JsonDict

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTION = ROOT / ".github/actions/headless-carla/action.yml"
JOB = {"runs-on", "timeout-minutes", "steps", "environment", "strategy", "permissions", "needs"}
STEP = {"uses", "with", "run", "env", "id", "name", "shell", "if"}


def read(path: Path) -> JsonDict:
    found: JsonDict = yaml.safe_load(path.read_text("utf-8"))
    return found


def steps_of(path: Path) -> list[JsonDict]:
    content = read(path)
    if "runs" in content:
        return list(content["runs"]["steps"])
    return [step for job in content["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_the_keys_that_github_reads(path: Path) -> None:
    content = read(path)
    assert set(content) == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads "on" as true
    for job in content["jobs"].values():
        assert set(job) <= JOB
        assert job["runs-on"] == "ubuntu-24.04"


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_steps_run_or_use_something_and_what_is_ours_is_there(path: Path) -> None:
    for step in steps_of(path):
        assert set(step) <= STEP
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert (
                (ROOT / step["uses"]).is_dir()
                if step["uses"].startswith("./")
                else re.fullmatch(r"[\w-]+/[\w./-]+@[\w./]+", step["uses"])
            )
            continue
        subprocess.run(["bash", "-nc", step["run"]], check=True)
        for word in shlex.split(step["run"].splitlines()[0]):
            if word.startswith(("scripts/", ".ci/", "packages/")):
                assert os.access(ROOT / word, os.X_OK) or word.endswith(".py"), word


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[bi]*.yml")), ids=lambda path: path.name
)
def test_forms_have_what_github_asks_for(path: Path) -> None:
    content = read(path)
    assert {"name", "description", "body"} <= set(content)
    for part in content["body"]:
        assert part["type"] in {"textarea", "input"}
        assert part["attributes"]["label"]


def test_the_citation_is_of_this_version() -> None:
    cited = read(ROOT / "CITATION.cff")
    assert f'version = "{cited["version"]}"' in (ROOT / "pyproject.toml").read_text()
    assert f"## [{cited['version']}] - {cited['date-released']}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.timeout(600)
def test_the_action_starts_a_simulator_that_the_example_ticks(tmp_path: Path) -> None:
    (start,) = [step for step in steps_of(ACTION) if step.get("id") == "start"]
    inputs = {"PYTHON": sys.executable, "TOWN": "Town10HD", "RUNNER_TEMP": str(tmp_path)}
    inputs |= {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_ENV")}
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", start["run"]], env=os.environ | inputs, check=True)
    variables = dict(line.split("=") for line in (tmp_path / "GITHUB_ENV").read_text().split())
    try:
        example = ROOT / "packages/headless_simulator/docs/tick_a_world.py"
        done = subprocess.run(
            [sys.executable, example, variables["CARLA_PORT"]], check=True, capture_output=True, text=True
        )
        assert "Town10HD" in done.stdout
        assert set(read(ACTION)["outputs"]) == {
            line.partition("=")[0] for line in (tmp_path / "GITHUB_OUTPUT").read_text().split()
        }
    finally:
        os.kill(int(variables["HEADLESS_CARLA_PID"]), signal.SIGTERM)
