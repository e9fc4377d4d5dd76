"""Run ``uavsim`` in a process."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Done:
    """A successful command.

    Attributes:
        printed: standard output.
        seconds: duration.
    """

    printed: str
    seconds: float


def run_uavsim(*words: str, cwd: Path) -> Done:
    """Run a command that must succeed.

    Raises:
        SystemExit: it failed; the message holds its output.
    """
    began = time.monotonic()
    command = [sys.executable, "-m", "uavsim", *words]
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"uavsim {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return Done(done.stdout, time.monotonic() - began)
