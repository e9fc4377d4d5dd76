"""The command line, as a user types it."""

import subprocess
import sys
from pathlib import Path


def uavsim(
    *arguments: str | Path, timeout: float = 600, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it; returns what it printed and its exit code."""
    command = [sys.executable, "-m", "uavsim", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=env)
