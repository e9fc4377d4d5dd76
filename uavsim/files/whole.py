"""Atomic file writes: temp file in the same folder, fsync, rename, fsync the folder.

The order protects against a power cut: a file's bytes must be on disk before its name, and the folder with the name before
any reference to the file (the ledger). Every OSError that leaves this module is a ``StorageError`` with a remedy.
"""

import errno
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeVar

from uavsim.errors import InputError, StorageError, UavsimError
from uavsim.files.result_folder import refuse_no_folder

TEMP_SUFFIX = ".uavsim-tmp"
AGAIN: Final = "run the same command again"
ANOTHER_OUT: Final = f"{AGAIN} with another --out"
"""For results that need an empty folder."""
_GOES_ON: Final = ", it continues where it stopped"  # true for runs; other commands start again
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_TEMP = re.compile(rf"\..+\.[0-9a-f]{{12}}{re.escape(TEMP_SUFFIX)}")

_REMEDY = {
    errno.ENOSPC: "the disk is full; free space and run the same command again, it continues where it stopped",
    errno.EDQUOT: "the disk quota is used up; raise it and run the same command again, it continues where it stopped",
    errno.EROFS: "the file system is read-only; remount it writable and run the same command again",
    errno.EACCES: "no permission; give this user write access to the folder and run the same command again",
    errno.EPERM: "not permitted; give this user write access to the folder and run the same command again",
    errno.EIO: "the disk reports an input/output error; check the disk, then run the same command again",
    errno.EXDEV: "staging and output lie on different file systems; keep .uavsim/staging inside the output folder",
    errno.ENOTDIR: "a path component is a file, not a folder; choose another --out",
    errno.EMFILE: "this host's limit of open files is too low; raise it (ulimit -n 1024) and run the same command again",
    errno.ENFILE: "this host has no open files left; end other programs and run the same command again",
    errno.ENOMEM: "this host has no memory left; end other programs and run the same command again",
    errno.EFBIG: "a limit of this host on file sizes is too low; raise it (ulimit -f) and run the same command again",
    errno.EAGAIN: "this host has no processes or threads left; raise its limit (ulimit -u) and run the same command again",
    errno.ESTALE: "the network file system lost the file; remount it and run the same command again",
}


def remedy_of(error: BaseException, *, again: str | None = None) -> str:
    """Return the remedy for an operating system error.

    Args:
        error: the error.
        again: how to repeat the command; None for a run, which continues.
    """
    code = error.errno if isinstance(error, OSError) else errno.ENOMEM
    return _with_remedy(_REMEDY.get(code or 0, "find the cause, then run the same command again"), again)


def storage_error(what: str, error: OSError, *, again: str | None = None) -> StorageError:
    """Translate an OSError into a ``StorageError``: one line with a remedy.

    Args:
        what: the action, for the message ``cannot <what>: <reason>``.
        error: the error.
        again: see ``remedy_of``.
    """
    known = _REMEDY.get(error.errno or 0) or (os.strerror(error.errno) if error.errno else str(error))
    where = f" ({error.filename})" if error.filename and str(error.filename) not in what else ""
    return StorageError(f"cannot {what}: {_with_remedy(known, again)}{where}")


@contextmanager
def storage_errors(what: str, *, again: str | None = None) -> Iterator[None]:
    """Translate any OSError of the context into a one-line ``StorageError``.

    Args:
        what: see ``storage_error``.
        again: see ``remedy_of``.

    Raises:
        StorageError: the output cannot be read or written.
    """
    try:
        yield
    except OSError as error:
        raise storage_error(what, error, again=again) from error


def _with_remedy(remedy: str, again: str | None) -> str:
    return remedy if again is None else remedy.replace(_GOES_ON, "").replace(AGAIN, again)


def fsync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folders: Iterable[Path]) -> None:
    """Create folders with their parents, and fsync every new name."""
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
    """Write ``path`` atomically, replacing a regular file; after the return it survives a power cut.

    Raises:
        StorageError: the path is a link, a device or a folder.
        OSError: the file system failed.
    """
    make_folders([path.parent])
    with open_folder(path.parent) as folder:
        replace_in(folder, path.name, data, display_path=path)


class HeldPath(Protocol):
    """A path in an open folder (``results.ResultPath``); ``str`` gives its path for messages."""

    @property
    def name(self) -> str:
        """The last path component."""

    def parent(self) -> AbstractContextManager[int]:
        """Open, or create, its parent folder."""


AnyPath = TypeVar("AnyPath", bound=Path | HeldPath)


@contextmanager
def parent_of(path: Path | HeldPath) -> Iterator[int]:
    """Open, or create, the parent folder of a file; remove temp files of its killed writers.

    Raises:
        InputError: the parent is not a directory.
        StorageError, OSError: the folder cannot be created or opened.
    """
    if not isinstance(path, Path):
        with path.parent() as folder:
            yield folder
        return
    refuse_no_folder(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_folder(path.parent) as folder:
        sweep_folder(folder, path.name)
        yield folder


def write_whole(path: AnyPath, data: bytes) -> AnyPath:
    """Write a file atomically, with its folders, without fsync: for results that can be recomputed.

    Raises:
        InputError, StorageError: see ``whole_file``.
    """
    with whole_file(path) as file:
        file.write(data)
    return path


@contextmanager
def whole_file(path: Path | HeldPath, *, again: str = AGAIN) -> Iterator[BinaryIO]:
    """Open a temp file that becomes ``path`` when the context ends without an exception, and is removed otherwise.

    An existing file or hard link is replaced, never written into.

    Args:
        path: path of the file.
        again: how to repeat the command when writing fails; see ``remedy_of``.

    Raises:
        InputError: the parent is not a directory, or the path exists and is no regular file.
        StorageError: the file cannot be written.
    """
    with storage_errors(f"write {path}", again=again), parent_of(path) as folder:
        refuse_special(folder, path.name, display_path=path, error=InputError)
        temp, file = begin_temp(folder, path.name)
        try:
            with file:
                yield file
                file.flush()
                os.rename(temp, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=folder)


def begin_temp(folder: int, name: str, *, buffering: int = -1, mode: int = 0o666) -> tuple[str, BinaryIO]:
    """Create a temp file for ``name`` in an open folder, locked while it is open: rename it first, then close it.

    A sweeper in another process treats an unlocked temp file as that of a dead writer.
    """
    while True:
        temp = f".{name}.{os.urandom(6).hex()}{TEMP_SUFFIX}"
        file = os.fdopen(os.open(temp, _NEW_FILE, mode, dir_fd=folder), "wb", buffering=buffering)
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:  # else a sweeper removed it before it was locked
            return temp, file
        file.close()


@contextmanager
def open_folder(path: Path) -> Iterator[int]:
    """Open a folder's descriptor."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def replace_in(folder: int, name: str, data: bytes, *, display_path: object) -> None:
    """Write ``name`` in an open folder atomically; see ``replace_bytes``."""
    refuse_special(folder, name, display_path=display_path)
    with _written_temp(folder, name, data) as temp:
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def create_in(folder: int, name: str, data: bytes) -> bool:
    """Write ``name`` atomically unless it exists; returns True for exactly one of several processes."""
    try:
        with _written_temp(folder, name, data) as temp:
            os.link(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        return False
    os.fsync(folder)
    return True


def refuse_special(folder: int, name: str, *, display_path: object, error: type[UavsimError] = StorageError) -> None:
    """Refuse to replace anything but a regular file.

    Raises:
        UavsimError: ``error``, for a link, a device, a FIFO or a folder.
    """
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a device or pipe"
        raise error(f"cannot write {display_path}: it is {kind}, not a regular file; choose another path")


def to_json_bytes(value: object) -> bytes:
    """Encode as readable JSON: indented, sorted keys, a final newline."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def is_temp(name: str) -> bool:
    """Return whether a name belongs to a temp file of this module."""
    return _TEMP.fullmatch(name) is not None


@contextmanager
def _written_temp(folder: int, name: str, data: bytes) -> Iterator[str]:
    """Yield the name of a temp file with these bytes, synced to disk and locked; remove it at the end."""
    temp, file = begin_temp(folder, name, mode=0o644)
    with file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            yield temp
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=folder)


def sweep_folder(folder: int, name: str = "") -> None:
    """Remove the temp files of dead writers in an open folder, for one name or for all."""
    with suppress(PermissionError):  # the folder may be writable but not listable
        for found in os.listdir(folder):
            if found.startswith(f".{name}." if name else ".") and is_temp(found):
                sweep_temp(folder, found)


def sweep_temp(folder: int, name: str) -> bool:
    """Remove an unlocked temp file, left by a dead writer; return whether it was removed."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ELOOP}:
            return False
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(descriptor)
    return True
