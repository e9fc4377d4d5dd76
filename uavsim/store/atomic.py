"""Files that are whole or not there: temp file in the same folder, fsync, rename, fsync the folder.

The order matters when power is lost: a file's bytes must be on disk before its name is, and the folder that holds the
name must be on disk before anything that promises the file (the ledger) is. Every OSError that leaves this module is a
``StorageError`` that says what to do.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from uavsim.errors import StorageError

__all__ = [
    "TEMP_SUFFIX",
    "create_bytes",
    "fsync_file",
    "fsync_folder",
    "make_folders",
    "replace_bytes",
    "storage_errors",
    "sweep_temp",
    "to_json_bytes",
]

TEMP_SUFFIX = ".uavsim-tmp"

_REMEDY = {
    errno.ENOSPC: "the disk is full; free space and run the same command again, it continues where it stopped",
    errno.EDQUOT: "the disk quota is used up; raise it and run the same command again, it continues where it stopped",
    errno.EROFS: "the file system is read-only; remount it writable and run the same command again",
    errno.EACCES: "no permission; give this user write access to the folder and run the same command again",
    errno.EPERM: "not permitted; give this user write access to the folder and run the same command again",
    errno.EIO: "the disk reports an input/output error; check the disk, then run the same command again",
    errno.EXDEV: "staging and output lie on different file systems; keep .uavsim/staging inside the output folder",
    errno.ENOTDIR: "something on the way is a file, not a folder; choose another --out",
    errno.ESTALE: "the network file system lost the file; remount it and run the same command again",
}


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn any OSError inside into a one-line ``StorageError``.

    Args:
        what: what was being done, for people: ``cannot <what>: <reason>``.

    Raises:
        StorageError: the output cannot be read or written.
    """
    try:
        yield
    except OSError as error:
        reason = _REMEDY.get(error.errno or 0) or f"{os.strerror(error.errno)}" if error.errno else str(error)
        where = f" ({error.filename})" if error.filename else ""
        raise StorageError(f"cannot {what}: {reason}{where}") from error


def fsync_file(path: Path) -> None:
    """Wait until the file's bytes are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folders: Iterable[Path]) -> None:
    """Make folders with their parents, and put every new name on disk."""
    touched: set[Path] = set()
    for folder in folders:
        missing = []
        step = folder
        while not step.exists():
            missing.append(step)
            step = step.parent
        folder.mkdir(parents=True, exist_ok=True)
        touched.update(new.parent for new in missing)
    for parent in sorted(touched):
        fsync_folder(parent)


def replace_bytes(path: Path, data: bytes) -> None:
    """Write ``path`` whole, replacing what was there; after the return it survives a power cut."""
    temp = _write_temp(path, data)
    try:
        temp.rename(path)
    except OSError:
        temp.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def create_bytes(path: Path, data: bytes) -> bool:
    """Write ``path`` whole unless it exists; of several processes that try, exactly one gets True."""
    temp = _write_temp(path, data)
    try:
        os.link(temp, path)
    except FileExistsError:
        return False
    finally:
        temp.unlink(missing_ok=True)
    fsync_folder(path.parent)
    return True


def to_json_bytes(value: object) -> bytes:
    """Encode as JSON for people: indented, keys in order, a newline at the end."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _write_temp(path: Path, data: bytes) -> Path:
    make_folders([path.parent])
    while True:
        temp = path.with_name(f".{path.name}.{os.urandom(6).hex()}{TEMP_SUFFIX}")
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink == 0:  # a sweeper was faster than the lock
                continue
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                temp.unlink(missing_ok=True)
                raise
        return temp


def sweep_temp(temp: Path) -> bool:
    """Remove the temp file of a writer that died; its lock died with it. False when it is still being written."""
    try:
        with temp.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            temp.unlink(missing_ok=True)
    except FileNotFoundError:
        return False
    return True
