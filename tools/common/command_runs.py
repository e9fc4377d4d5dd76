"""Runs of the command line, each in a process forked from one with all imports, which dominate the time of short runs."""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final

_FORKED: Final = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(["tools.common.command_imports"])


def start(
    arguments: Sequence[str | Path], *, env: Mapping[str, str], folder: Path, out: Path, err: Path | None = None
) -> ForkServerProcess:
    """Start one run of ``uavsim`` in a process group of its own.

    Args:
        arguments: its words.
        env: all of its environment variables.
        folder: its working folder.
        out: file to which its output is appended.
        err: file for its errors; default: ``out``.
    """
    words = ["uavsim", *map(str, arguments)]
    process = _FORKED.Process(target=_run, args=(words, dict(env), folder, out, err or out))
    process.start()
    return process


def _run(words: list[str], env: dict[str, str], folder: Path, out: Path, err: Path) -> None:
    """Run a command in this process, which was forked with the variables of an earlier time."""
    os.setsid()
    for path, number in ((out, 1), (err, 2)):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
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
