"""Runs of the command line, and hashes of its output."""

import hashlib
import subprocess
import sys
from pathlib import Path


def uavsim(
    *arguments: str | Path, timeout: float = 600, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command and capture its output and exit code."""
    command = [sys.executable, "-m", "uavsim", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=env)


def succeed(
    *arguments: str | Path, timeout: float = 600, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command that must end with exit code 0."""
    done = uavsim(*arguments, timeout=timeout, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def hashes(root: Path, pattern: str = "**/*") -> dict[str, str]:
    """Hash a dataset's files that match a pattern, without the notes of the run."""
    found = (path for path in root.glob(pattern) if path.is_file() and ".uavsim" not in path.parts)
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}
