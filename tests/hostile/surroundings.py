"""Environments in which commands are run: what each changes for the process."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["SURROUNDINGS", "Surrounding"]


@dataclass(frozen=True)
class Surrounding:
    """One environment.

    Attributes:
        env: added to the child's environment; None takes a variable out.
        before: run in the child before the command; gets the row's own folder, which is the working folder.
        prepare: run before the child starts.
        shell: redirections of the command.
        codes: exit codes that are right whatever the command; () where the command's own are.
        new: of a kind that no user had met before.
    """

    name: str
    env: dict[str, str | None] = field(default_factory=dict)
    before: Callable[[Path], None] = lambda work: None
    prepare: Callable[[Path], None] = lambda work: None
    shell: str = ""
    codes: tuple[int, ...] = ()
    new: bool = False


def _limit(which: int, value: int) -> Callable[[Path], None]:
    return lambda work: resource.setrlimit(which, (value, value))


def _modules(work: Path) -> None:
    for name in ("typer", "json", "random", "numpy", "yaml", "rich", "site", "sitecustomize"):
        (work / f"{name}.py").write_text(f"raise SystemExit('{name}.py of the current folder was imported')\n")


def _nobody(work: Path) -> None:
    if any(not folder.stat().st_mode & 0o001 for folder in Path(sys.executable).resolve().parents):
        return  # nobody else may run this interpreter; the variables alone are gone then
    os.setgid(54321)
    os.setuid(54321)


def _no_rights(work: Path) -> None:
    os.umask(0o777)


def _file_home(work: Path) -> None:
    (work / "home").write_text("a file")


SURROUNDINGS = (
    Surrounding("plain"),
    Surrounding(
        "proxy",
        env={"http_proxy": "http://10.255.255.1:9", "https_proxy": "http://10.255.255.1:9", "ALL_PROXY": "x://y"},
    ),
    Surrounding(
        "prefect's variables",
        env={"PREFECT_LOGGING_LEVEL": "chatty", "PREFECT_API_AUTH_STRING": "x", "PREFECT_HOME": "/dev/null"},
    ),
    Surrounding("modules in the current folder", prepare=_modules),
    Surrounding("descriptors closed", shell="<&- >&- 2>&-"),
    Surrounding("reader gone", shell="| head -c 0"),
    Surrounding("full output", shell="> /dev/full", codes=(0, 2, 3, 4)),
    Surrounding("40 open files", before=_limit(resource.RLIMIT_NOFILE, 40)),
    Surrounding("nobody without a home", env={"HOME": None, "USER": None, "LOGNAME": None}, before=_nobody),
    Surrounding("no temporary folder", env={"TMPDIR": "/nonexistent"}),
    Surrounding("home is a file", env={"HOME": "home"}, prepare=_file_home, new=True),
    Surrounding("ascii only", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}, new=True),
    Surrounding("one column", env={"COLUMNS": "1", "LINES": "1", "TERM": "dumb"}, new=True),
    Surrounding("colours forced", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}, new=True),
    Surrounding("umask 0777", before=_no_rights, new=True),
    Surrounding("no file may grow", before=_limit(resource.RLIMIT_FSIZE, 0), codes=(0, 2, 3, 4), new=True),
    Surrounding("no core, small stack", before=_limit(resource.RLIMIT_STACK, 1 << 20), new=True),
    Surrounding("python optimised", env={"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"}, new=True),
    Surrounding("endless input", shell="< /dev/zero", new=True),
    Surrounding("cache is a file", env={"XDG_CACHE_HOME": "/dev/null"}, new=True),
    Surrounding("huge environment", env={f"FILLER_{k}": "x" * 100_000 for k in range(10)}, new=True),
)
