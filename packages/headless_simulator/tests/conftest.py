"""Fixtures that all rooms share: a headless simulator in a process of its own, and a home that is nobody's."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("no clock", deadline=None)  # a busy machine is no failure, and numba compiles on first use
settings.register_profile("repeatable", deadline=None, derandomize=True)  # .ci/run: what fails there fails again
settings.load_profile(os.environ.get("UAVSIM_TEST_EXAMPLES", "no clock"))


@dataclass(frozen=True)
class RunningSimulator:
    carla: str
    airsim: str
    pid: int

    @property
    def address(self) -> str:
        return f"{self.carla}:{self.airsim.rpartition(':')[2]}"


@contextlib.contextmanager
def running_simulator(*arguments: str, env: dict[str, str] | None = None) -> Iterator[RunningSimulator]:
    """Start ``python -m headless_simulator`` on free ports, wait for its line, and end it."""
    command = [sys.executable, "-m", "headless_simulator", "--carla-port", "0", "--airsim-port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, f"the headless simulator ended with {process.wait()} before it listened"
        ports = json.loads(line)
        yield RunningSimulator(f"127.0.0.1:{ports['carla']}", f"127.0.0.1:{ports['airsim']}", process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """CARLA's client caches maps in the home folder by name; tests must not read or leave any there."""
    with pytest.MonkeyPatch.context() as patch:
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        patch.setenv("XDG_CACHE_HOME", cache)  # towns that were built once are good for every test
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def simulator() -> Iterator[RunningSimulator]:
    with running_simulator("--town", "Town10HD") as running:
        yield running
