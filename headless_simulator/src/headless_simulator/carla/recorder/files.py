"""Where recordings are, and how they are opened: nothing is written to what is no recording."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from headless_simulator.carla.recorder.layout import MAGIC
from headless_simulator.errors import CallRefused

_SEPARATORS: Final = ("/", "\\", ":")  # a name with one of these is a path, as CARLA has it
_HEAD: Final = len(MAGIC).to_bytes(2, "little") + MAGIC.encode()
_HEAD_AT: Final = 2  # behind the version


def folder() -> Path:
    """Where recordings with a bare name are: ``$XDG_STATE_HOME/headless-simulator/recordings`` or below ``~/.local/state``."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "headless-simulator" / "recordings"


def path_of(name: str) -> Path:
    """Give the file of a recording's name: in ``folder()``, or the path that the name is.

    Raises:
        CallRefused: the name can be no file's.
    """
    if not name.strip() or "\0" in name:
        raise CallRefused(f"{name!r:.80} is no name for a recording")
    is_path = any(separator in name for separator in _SEPARATORS)
    return Path(name).absolute() if is_path else folder() / name


def create(path: Path) -> BinaryIO:
    """Open a file for a new recording, unbuffered and locked; an older recording in its place is emptied.

    Raises:
        CallRefused: it cannot be written, its folder is missing, or something that is no recording is in its place.
    """
    try:
        if path.parent == folder():
            path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.is_dir():
            raise CallRefused(f"cannot record to {path!s:.300}: the folder {path.parent} does not exist")
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise CallRefused(f"cannot record to {path}: it is no regular file")
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
    except OSError as problem:
        raise CallRefused(f"cannot record to {path!s:.300}: {problem.strerror}") from problem
    file = os.fdopen(number, "r+b", buffering=0)
    try:
        _take_over(file, path)
    except BaseException:
        file.close()
        raise
    return file


def _take_over(file: BinaryIO, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise CallRefused(f"cannot record to {path}: it is no regular file")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise CallRefused(f"cannot record to {path}: {problem.strerror}") from problem
        raise CallRefused(f"cannot record to {path}: another recording is being written there") from problem
    head = file.read(_HEAD_AT + len(_HEAD))
    if head and head[_HEAD_AT:] != _HEAD:
        raise CallRefused(f"cannot record to {path}: a file that is no CARLA recording is there")
    file.seek(0)
    file.truncate()


def open_existing(path: Path) -> BinaryIO | None:
    """Open a recording for reading; None when there is no such regular file, or it may not be read."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb")
