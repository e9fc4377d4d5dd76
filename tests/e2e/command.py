"""Runs of the command line, and hashes of its output."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from tools.common import command_runs


def uavsim(
    *arguments: str | Path, timeout: float = 600, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command and capture its output and exit code."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = command_runs.start(arguments, env=env or os.environ, folder=Path.cwd(), out=out, err=err)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(map(str, arguments)), timeout)
        return subprocess.CompletedProcess(arguments, process.exitcode, out.read_text(), err.read_text())


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
