"""Log files: append to them, and read their last lines."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from uavsim.errors import StorageError
from uavsim.files.whole import storage_errors

_MOST_READ: Final = 16_384


def open_appending(path: Path) -> BinaryIO:
    """Open a log for appending; create it and its folder if needed.

    It neither follows links nor blocks on a FIFO.

    Raises:
        StorageError: the log cannot be written, or is no regular file.
    """
    with storage_errors(f"write the log {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENXIO}:
                raise _special(path) from error
            raise
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise _special(path)
        return os.fdopen(descriptor, "ab")


def tail_of(path: Path, *, lines: int, start_bytes: int = 0) -> str:
    """Return the last lines of a log, from its last 16 KiB at most; "" if there is no log.

    Args:
        path: the log.
        lines: maximum number of lines.
        start_bytes: offset before which nothing is read.

    Raises:
        StorageError: the log cannot be read, or is no regular file.
    """
    with storage_errors(f"read the log {path}"):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return ""
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _special(path) from error
            raise
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise _special(path)
            file.seek(max(start_bytes, found.st_size - _MOST_READ))
            return "\n".join(file.read(_MOST_READ).decode(errors="replace").splitlines()[-lines:])


def _special(path: Path) -> StorageError:
    return StorageError(f"the log {path} is a link, a device or a pipe, not a regular file; move it away")
