"""Rows of a benchmark: name, value, unit and how it was measured."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import psutil
from headless_simulator.testing import running_simulator

from tools.common import ROOT
from uavsim.supervise.client_process import ONE_THREAD

AS_CLIENT: Final = ONE_THREAD
"""What a run sets for the processes that a benchmark stands in for: threads of BLAS wait for each other by spinning."""


@dataclass(frozen=True)
class Row:
    """One figure."""

    name: str
    value: float
    unit: str
    how: str

    def as_json(self) -> dict[str, Any]:
        """Return the row with the value rounded to four digits."""
        return asdict(self) | {"value": float(f"{self.value:.4g}")}


def cpu_s(process: psutil.Process) -> float:
    """Return the processor seconds of a process and all that it started, those that have ended included."""
    family = [process, *process.children(recursive=True)]
    return float(sum(sum(p.cpu_times()[:4]) for p in family))  # user, system, and both of children that were waited for


@dataclass
class Simulator:
    """A running headless simulator."""

    port: int
    seconds_to_listen: float
    process: psutil.Process

    def cpu_s(self) -> float:
        """Return the processor seconds that it has used, its children's included."""
        return cpu_s(self.process)

    def rss_mb(self) -> float:
        """Return its resident memory."""
        return sum(p.memory_info().rss for p in [self.process, *self.process.children(recursive=True)]) / 1e6


@contextlib.contextmanager
def simulator(
    *arguments: str, program: Sequence[str] = ("headless_simulator",), variables: Mapping[str, str] | None = None
) -> Iterator[Simulator]:
    """Start the headless simulator on free ports and end it.

    Args:
        arguments: of its command line.
        program: module that is the simulator, or starts it, and what it is reported first.
        variables: of its environment, beside ours.
    """
    command = (sys.executable, "-m", *program)
    with running_simulator(*arguments, command=command, env=variables, cwd=ROOT, stderr=subprocess.DEVNULL) as running:
        yield Simulator(running.carla_port, running.seconds_to_listen, psutil.Process(running.pid))


def in_own_process(
    module: str,
    *arguments: str,
    timeout_s: float = 3600,
    variables: Mapping[str, str] | None = None,
    python: Sequence[str] = (sys.executable,),
) -> dict[str, Any]:
    """Run ``python -m tools.bench.<module>`` and return the JSON on its last line; vendors' clients may take a process down.

    Args:
        module: of this folder.
        arguments: of its command line.
        timeout_s: after which it is ended.
        variables: of its environment, beside ours.
        python: the interpreter, and what runs it.
    """
    import json

    with tempfile.TemporaryDirectory() as home:  # CARLA's client keeps a map cache in HOME
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))  # machine code stays where it is
        own = {"HOME": home, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": cache}
        environment = os.environ | own | dict(variables or {})
        command = [*python, "-m", f"tools.bench.{module}", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"tools.bench.{module} ended with code {done.returncode}: {last}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result
