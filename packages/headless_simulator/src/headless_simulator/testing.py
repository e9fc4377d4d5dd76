"""Start a headless simulator for tests and programs: a process of its own on free ports, stopped when the block ends.

::

    with running_simulator("--town", "Town03") as simulator:
        client = carla.Client("127.0.0.1", simulator.carla_port)

Where pytest is installed, the fixture ``headless_simulator`` gives one that serves a whole session of tests.
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
    """A simulator that listens.

    Attributes:
        carla_port: of CARLA's RPC; its streams are on the next one.
        airsim_port: of AirSim's RPC; 0 with ``--no-airsim``.
        pid: of its process.
        seconds_to_listen: from the start of the process.
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
        arguments: of its command line; ports are free ones unless they are named here.
        command: the program, and what precedes its arguments.
        env: variables beside those of this process.
        cwd: its working folder.
        stderr: where its messages go, as for ``subprocess.Popen``.

    Raises:
        RuntimeError: it ended before it listened.
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
