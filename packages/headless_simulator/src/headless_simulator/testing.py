"""Start a headless simulator for tests and programs: a separate process on free ports, stopped at the end of the block.

::

    with running_simulator("--town", "Town03") as simulator:
        client = carla.Client("127.0.0.1", simulator.carla_port)

The pytest fixture ``headless_simulator`` provides one for a whole test session.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

__all__ = ["RunningSimulator", "running_simulator"]

_ENDS_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class RunningSimulator:
    """A listening simulator.

    Attributes:
        carla_port: CARLA's RPC port; streams use the next one.
        airsim_port: AirSim's RPC port; 0 with ``--no-airsim``.
        pid: process id.
        seconds_to_listen: time from the process's start to listening.
    """

    carla_port: int
    airsim_port: int
    pid: int
    seconds_to_listen: float

    @property
    def carla(self) -> str:
        """CARLA's host and port."""
        return f"127.0.0.1:{self.carla_port}"

    @property
    def airsim(self) -> str:
        """AirSim's host and port."""
        return f"127.0.0.1:{self.airsim_port}"

    @property
    def address(self) -> str:
        """The host with both ports."""
        return f"{self.carla}:{self.airsim_port}"


@contextlib.contextmanager
def running_simulator(
    *arguments: str,
    command: Sequence[str] = (sys.executable, "-m", "headless_simulator"),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stderr: int | IO[str] | IO[bytes] | None = None,
) -> Iterator[RunningSimulator]:
    """Start a simulator, wait until it listens, and stop it at the end.

    Args:
        arguments: command line arguments; ports are free ones by default.
        command: the program and leading arguments.
        env: environment variables in addition to those of this process.
        cwd: working folder.
        stderr: as for ``subprocess.Popen``.

    Raises:
        RuntimeError: the process ended before it listened.
    """
    words = [*command, "--carla-port", "0", "--airsim-port", "0", *arguments]
    began_s = time.perf_counter()
    process = subprocess.Popen(
        words, env={**os.environ, **(env or {})}, cwd=cwd, stdout=subprocess.PIPE, stderr=stderr, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the headless simulator ended with code {process.wait()} before it listened")
        ports: dict[str, int] = json.loads(line)
        yield RunningSimulator(ports["carla"], ports.get("airsim", 0), process.pid, time.perf_counter() - began_s)
    finally:
        process.terminate()
        try:
            process.wait(timeout=_ENDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
