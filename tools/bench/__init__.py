"""Benchmarks of this machine: ``scripts/bench``. A row has a name, a value, a unit and the method of measurement."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from headless_simulator.testing import running_simulator

from tools.common import ROOT


@dataclass(frozen=True)
class Row:
    """One measurement."""

    name: str
    value: float
    unit: str
    how: str

    def as_json(self) -> dict[str, Any]:
        """Return the row with the value rounded to four digits."""
        return asdict(self) | {"value": float(f"{self.value:.4g}")}


@dataclass
class Simulator:
    """A running headless simulator."""

    port: int
    seconds_to_listen: float
    process: psutil.Process

    def rss_mb(self) -> float:
        """Return the resident memory, with that of children."""
        return sum(p.memory_info().rss for p in [self.process, *self.process.children(recursive=True)]) / 1e6


@contextlib.contextmanager
def simulator(*arguments: str, program: Sequence[str] = ("headless_simulator",)) -> Iterator[Simulator]:
    """Run a headless simulator on free ports.

    Args:
        arguments: arguments of its command line.
        program: module that runs the simulator, and its first arguments.
    """
    command = (sys.executable, "-m", *program)
    with running_simulator(*arguments, command=command, cwd=ROOT, stderr=subprocess.DEVNULL) as running:
        yield Simulator(running.carla_port, running.seconds_to_listen, psutil.Process(running.pid))


def in_own_process(module: str, *arguments: str, timeout_s: float = 3600) -> dict[str, Any]:
    """Run ``python -m <module>`` and return the JSON on its last line; CARLA's client may crash a process.

    Args:
        module: dotted name.
        arguments: arguments of its command line.
        timeout_s: time limit.

    Raises:
        RuntimeError: it fails.
    """
    with tempfile.TemporaryDirectory() as home:  # CARLA's client caches maps in HOME
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))  # keeps compiled kernels
        environment = os.environ | {"HOME": home, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache}
        command = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{module} ended with code {done.returncode}: {last}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result
