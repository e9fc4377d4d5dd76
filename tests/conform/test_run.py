from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_simulator.testing import running_simulator

from tools.trials.conform import FAST_CLOCK, PLANTED, Planted, found_by
from uavsim.conform.answers import Answer, read_answers
from uavsim.conform.ask import Ask
from uavsim.conform.worker import gathered
from uavsim.errors import SimulatorError


def test_the_headless_simulator_answers_as_stored(tmp_path: Path) -> None:
    """If a change to the simulator is wanted: uavsim conform, and its answers.json becomes uavsim/conform/headless.json."""
    (tmp_path / "settings.json").write_text(json.dumps(FAST_CLOCK))
    out = tmp_path / "out"
    with running_simulator("--airsim-settings", str(tmp_path / "settings.json")) as simulator:
        done = conform(
            "--simulator", simulator.carla, "--airsim", simulator.airsim, "--out", str(out), "--strict", "--json"
        )
    assert json.loads(done.stdout)["differ"] == []
    assert done.returncode == 0, done.stderr
    given = read_answers(out / "answers.json")
    assert (given.simulator, given.server, given.airsim) == ("headless", "0.9.16", "1")
    assert "as here" in (out / "index.html").read_text()


@pytest.mark.parametrize("planted", [PLANTED[2], PLANTED[5], PLANTED[9]], ids=lambda p: p.fault["fault"])
def test_a_planted_fault_is_found(tmp_path: Path, planted: Planted) -> None:
    assert found_by(planted, tmp_path)


def test_what_was_answered_before_an_error_stays() -> None:
    def answers() -> Iterator[Answer]:
        yield Ask("lockstep").equal("a", 1)
        raise SimulatorError("it is gone")

    found = gathered(answers(), group="clock")
    assert [(a.capability, a.question, a.value) for a in found] == [
        ("lockstep", "a", 1),
        ("lockstep", "asked to the end", None),
    ]
    assert "it is gone" in found[1].note


def test_nobody_there_is_one_line(tmp_path: Path) -> None:
    done = conform("--simulator", "127.0.0.1:9", "--out", str(tmp_path / "out"))
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def conform(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uavsim", "conform", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
