"""A headless simulator for programs of others that run in a process of their own."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence


@contextlib.contextmanager
def simulator(*options: str, port: int = 0, python: str = sys.executable, program: Sequence[str] = ()) -> Iterator[int]:
    """Start a headless simulator and end it afterwards; gives its CARLA port.

    Args:
        options: of its command line.
        port: where it has to listen; 0 for any.
        python: interpreter that has it.
        program: what to run instead of the module.
    """
    command = [
        python,
        *(program or ("-m", "headless_simulator")),
        "--carla-port",
        str(port),
        "--airsim-port",
        "0",
        *options,
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        line = server.stdout.readline()
        if not line:
            sys.exit(f"the simulator did not start (exit {server.wait()}); is port {port} taken?")
        yield int(json.loads(line)["carla"])
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
