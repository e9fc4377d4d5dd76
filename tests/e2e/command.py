"""Runs of the command line, and hashes of its output.

Each run is a process of its own, forked from one that has imported the command line: imports are half of a short run's time.
"""

import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_FORKED: Final = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(["tests.e2e.imports"])


def uavsim(
    *arguments: str | Path, timeout: float = 600, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command and capture its output and exit code."""
    words = ["uavsim", *map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _FORKED.Process(target=_run, args=(words, env or dict(os.environ), Path.cwd(), out, err))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, process.exitcode, out.read_text(), err.read_text())


def _run(words: list[str], env: dict[str, str], folder: Path, out: Path, err: Path) -> None:
    """Run a command in this process, which was forked with the variables of an earlier time."""
    for path, number in ((out, 1), (err, 2)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    tempfile.tempdir = None
    sys.argv = words
    from prefect.context import refresh_global_settings_context

    from uavsim.cli import main

    refresh_global_settings_context()
    main(take_signals=True)


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
