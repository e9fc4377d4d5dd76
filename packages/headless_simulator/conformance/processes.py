"""Run a process to its end, or to a time limit, and collect its output."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_to_end(
    command: Sequence[str], *, limit_s: float, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> tuple[int | None, list[str]]:
    """Run a command; returns its exit code (None: killed at the limit) and its lines of output.

    Its output goes through a file: a grandchild that holds a pipe open would block the reader.
    """
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=cwd, env=env, stdout=output, stderr=subprocess.STDOUT)
        try:
            code: int | None = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        return code, output.read().splitlines()
