"""Temporary folders that outlive nobody: those of killed processes are removed by the next one that makes one."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_YOUNG_S: Final = 60.0  # one that is made right now is not locked yet
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Make a temporary folder for a while; first remove those of this user's processes that died.

    Args:
        prefix: begins its name; nobody else makes such names.
    """
    _sweep(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    lock = os.open(folder, _FOLDER)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # its owner's as long as the process lives
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(prefix: str) -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # another one's, locked, or gone meanwhile
            lock = os.open(path, _FOLDER)
            try:
                found = os.fstat(lock)
                if found.st_uid != os.getuid() or time.time() - found.st_mtime < _YOUNG_S:
                    continue
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
