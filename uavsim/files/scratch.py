"""Temporary folders; those of killed processes are removed by the next process that makes one."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_YOUNG_S: Final = 60.0  # a new folder may not be locked yet
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Create a temporary folder for the context; first remove those of this user's dead processes.

    Args:
        prefix: prefix of the name; only this function creates folders with it.
    """
    _sweep(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    lock = os.open(folder, _FOLDER)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held as long as the process lives
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(prefix: str) -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # owned by another user, locked, or removed
            lock = os.open(path, _FOLDER)
            try:
                found = os.fstat(lock)
                if found.st_uid != os.getuid() or time.time() - found.st_mtime < _YOUNG_S:
                    continue
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
