"""Symlink-safe access to uavsim's own folders, through open directory descriptors (``dir_fd``).

Every component of a key is opened in its parent with ``O_NOFOLLOW``, so that links are refused at any time. A file is removed
only if its name, size and modification time equal the values recorded when it was written.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uavsim.errors import StorageError
from uavsim.files.whole import create_in, is_temp, refuse_special, replace_in, sweep_temp

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_READ: Final = 1 << 32
_EXCHANGE: Final = 2  # RENAME_EXCHANGE of linux/fs.h
_NO_HARD_LINKS: Final = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_FSYNC_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class FileMark:
    """Identifies an unchanged file: a rename, a hard link and ``cp -a`` keep both attributes, an edit changes them.

    Attributes:
        size_bytes: size of the file.
        mtime_ns: modification time; None matches any, because ``cp -r`` does not keep it.
    """

    size_bytes: int
    mtime_ns: int | None

    def fits(self, found: FileMark) -> bool:
        """Return whether a file with the mark ``found`` is unchanged."""
        return self.size_bytes == found.size_bytes and self.mtime_ns in {None, found.mtime_ns}


def mark_of(path: Path) -> FileMark:
    """Return the mark of a regular file.

    Raises:
        StorageError: the path is no regular file.
    """
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise StorageError(f"{path} is not a regular file; this is a bug, report it")
    return FileMark(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """Files below ``root`` by ``/``-separated keys. The root itself may be a link, because the user chose it."""

    root: Path

    @contextmanager
    def parent(self, key: str, *, make: bool = False, display_path: Path | None = None) -> Iterator[tuple[int, str]]:
        """Open the folder that holds ``key``; yield its descriptor and the last part of the key.

        Args:
            key: key of a file or folder.
            make: create missing folders.
            display_path: path for messages; default: ``root`` and the key.

        Raises:
            FileNotFoundError: a folder on the way is missing and ``make`` is False.
            StorageError: the key leads out of the folder, or a path component is a link or no folder.
        """
        *folders, name = key.split("/")
        if "\0" in key or {"", ".", ".."} & {*folders, name}:
            raise StorageError(f"path {key!a} leaves {self.root}; this is a bug, report it")
        if make:
            self.root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for depth, part in enumerate(folders, start=1):
                whole_path = display_path or self.root / key
                path = whole_path.parents[len(folders) - depth]
                below = self._step(descriptor, part, make=make, display_path=path)
                os.close(descriptor)
                descriptor = below
            yield descriptor, name
        finally:
            os.close(descriptor)

    def _step(self, folder: int, part: str, *, make: bool, display_path: Path) -> int:
        try:
            try:
                return os.open(part, _FOLDER_FLAGS, dir_fd=folder)
            except FileNotFoundError:
                if not make:
                    raise
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
                os.fsync(folder)
            return os.open(part, _FOLDER_FLAGS, dir_fd=folder)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                raise StorageError(
                    f"{display_path} is a link or a file, not a folder; move it away, or choose another --out"
                ) from error
            raise

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a regular file; None if it does not exist.

        Raises:
            StorageError: the key is a link, a device or a folder.
        """
        with suppress(FileNotFoundError), self.parent(key) as (folder, name):
            return self._read_in(folder, name, key)
        return None

    def read_all(self, key: str) -> dict[str, bytes]:
        """Return the bytes of all regular files of a folder by name; the folder is opened once."""
        found = {}
        with suppress(FileNotFoundError), self.parent(f"{key}/x") as (folder, _):
            with os.scandir(folder) as entries:
                names = [e.name for e in entries if e.is_file(follow_symlinks=False) and not is_temp(e.name)]
            for name in sorted(names):
                with suppress(FileNotFoundError):  # removed since it was listed
                    found[name] = self._read_in(folder, name, f"{key}/{name}")
        return found

    def _read_in(self, folder: int, name: str, key: str) -> bytes:
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENXIO}:
                raise self._special(key) from error
            raise
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_READ:
                raise self._special(key)
            return file.readall()

    def _special(self, key: str) -> StorageError:
        return StorageError(f"{self.root}/{key} is a link, a device or too large; move it away")

    def replace(self, key: str, data: bytes) -> None:
        """Write a file atomically, replacing a regular file."""
        with self.parent(key, make=True) as (folder, name):
            replace_in(folder, name, data, display_path=f"{self.root}/{key}")

    def create(self, key: str, data: bytes) -> bool:
        """Write a file atomically unless it exists; returns True for exactly one of several writers."""
        with self.parent(key, make=True) as (folder, name):
            return create_in(folder, name, data)

    def mark(self, key: str) -> FileMark | None:
        """Return the mark of a regular file; None for anything else."""
        with suppress(FileNotFoundError), self.parent(key) as (folder, name):
            return mark_in(folder, name)
        return None

    def open_append(self, key: str) -> int:
        """Open a file for appending, and create it if needed; the caller closes the descriptor."""
        with self.parent(key, make=True) as (folder, name):
            refuse_special(folder, name, display_path=f"{self.root}/{key}")
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(name, flags, 0o644, dir_fd=folder)

    def take(self, sources: list[tuple[Path, str]]) -> None:
        """Hard-link files into this folder, or move them without hard links; never overwrite a file.

        The bytes of every file reach the disk before its name does.

        Raises:
            StorageError: a key exists already, or a source is no regular file.
        """
        with ThreadPoolExecutor(_FSYNC_THREADS) as threads:  # concurrent fsyncs take the disk the time of one
            list(threads.map(_fsync_regular, (sources[first::_FSYNC_THREADS] for first in range(_FSYNC_THREADS))))
        by_folder: dict[str, list[tuple[Path, str]]] = {}
        for source, key in sources:
            by_folder.setdefault(key.rpartition("/")[0], []).append((source, key))
        for pairs in by_folder.values():
            with self.parent(pairs[0][1], make=True) as (folder, _):
                for source, key in pairs:
                    self._take_one(source, folder, key)
                os.fsync(folder)

    def _take_one(self, source: Path, folder: int, key: str) -> None:
        name = key.rpartition("/")[2]
        try:
            try:
                os.link(source, name, dst_dir_fd=folder, follow_symlinks=False)
            except OSError as error:
                if error.errno not in _NO_HARD_LINKS:
                    raise
                if _exists(folder, name):
                    raise FileExistsError(errno.EEXIST, "exists already", key) from error
                os.rename(source, name, dst_dir_fd=folder)
        except FileExistsError as error:
            raise StorageError(
                f"{self.root}/{key} exists, and no manifest lists it; move it away and run the same command again"
            ) from error

    def remove(self, marks: Mapping[str, FileMark | None]) -> list[str]:
        """Remove regular files with the given marks.

        Args:
            marks: key -> mark; None for keys below ``.uavsim``, which prove by themselves that uavsim wrote the file.

        Returns:
            Removed keys; missing and changed files and anything else stay.
        """
        removed = []
        by_folder: dict[str, list[str]] = {}
        for key in marks:
            by_folder.setdefault(key.rpartition("/")[0], []).append(key)
        for keys in by_folder.values():
            with suppress(FileNotFoundError), self.parent(keys[0]) as (folder, _):
                removed += [key for key in keys if _remove_in(folder, key.rpartition("/")[2], marks[key])]
                os.fsync(folder)
        return removed

    def remove_empty(self, key: str) -> None:
        """Remove a folder if it is empty."""
        with suppress(FileNotFoundError), self.parent(key) as (folder, name):
            try:
                os.rmdir(name, dir_fd=folder)
                os.fsync(folder)
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.ENOENT}:
                    raise

    def remove_tree(self, key: str, *, last: str) -> None:
        """Remove a folder of uavsim with its contents; links in it are removed, never followed.

        Args:
            key: key of the folder.
            last: file that marks the folder as uavsim's; removed last.
        """
        for name, mode in self.names(key):
            if name == last:
                continue
            with self.parent(f"{key}/{name}") as (folder, _):
                if stat.S_ISDIR(mode):
                    shutil.rmtree(name, dir_fd=folder)
                else:
                    os.unlink(name, dir_fd=folder)
        self.remove({f"{key}/{last}": None})
        self.remove_empty(key)

    def make_folder(self, key: str) -> Path:
        """Create a folder.

        Raises:
            FileExistsError: the folder exists.
        """
        with self.parent(key, make=True) as (folder, name):
            os.mkdir(name, dir_fd=folder)
            os.fsync(folder)
        return self.root / key

    def names(self, key: str) -> list[tuple[str, int]]:
        """Return the sorted names in a folder with their modes (of links, not followed); [] if it does not exist.

        Raises:
            StorageError: the key is a link or no folder.
        """
        found: list[tuple[str, int]] = []
        with suppress(FileNotFoundError), self.parent(f"{key}/x") as (folder, _), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # renamed or removed since the listing
                    found.append((entry.name, entry.stat(follow_symlinks=False).st_mode))
        return sorted(found)

    def sync(self, key: str) -> None:
        """Wait until a regular file's bytes are on disk."""
        with self.parent(key) as (folder, name):
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def walk(self, key: str) -> list[str]:
        """Return the sorted keys of all regular files below a folder, without temp files; links are not followed."""
        found = []
        for name, mode in self.names(key):
            below = f"{key}/{name}"
            if stat.S_ISDIR(mode):
                found += self.walk(below)
            elif stat.S_ISREG(mode) and not is_temp(name):
                found.append(below)
        return sorted(found)

    def sweep_temps(self, key: str) -> list[str]:
        """Remove the temp files of dead writers below a folder and return their keys."""
        swept = []
        for name, mode in self.names(key):
            below = f"{key}/{name}"
            if stat.S_ISDIR(mode):
                swept += self.sweep_temps(below)
            elif is_temp(name):
                with self.parent(below) as (folder, last):
                    swept += [below] if sweep_temp(folder, last) else []
        return swept

    def rename(self, source: str, target: str) -> None:
        """Rename a file or folder; ``target`` must not exist, or be an empty folder."""
        with self.parent(source) as (old, name), self.parent(target, make=True) as (new, last):
            if _exists(new, last) and not stat.S_ISDIR(os.stat(last, dir_fd=new, follow_symlinks=False).st_mode):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
            os.rename(name, last, src_dir_fd=old, dst_dir_fd=new)
            os.fsync(new)

    def link(self, source: str, target: str) -> bool:
        """Hard-link a file, link or pipe; returns False where the file system or its permissions do not allow it."""
        with self.parent(source) as (old, name), self.parent(target) as (new, last):
            try:
                os.link(name, last, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
            except OSError as error:
                if error.errno not in {*_NO_HARD_LINKS, errno.EACCES, errno.ENOENT}:
                    raise
                return False
        return True

    def look_alike(self, source: str, target: str) -> None:
        """Copy the mode, times and extended attributes of a folder to another."""
        with self.parent(f"{source}/x") as (old, _), self.parent(f"{target}/x") as (new, _):
            shutil.copystat(f"/proc/self/fd/{old}", f"/proc/self/fd/{new}")

    def drop_second_name(self, source: str, target: str) -> bool:
        """Remove the name ``source`` if ``target`` is the same file; return whether it was removed."""
        with self.parent(source) as (old, name), self.parent(target) as (new, last):
            one, other = (os.stat(n, dir_fd=d, follow_symlinks=False) for n, d in ((name, old), (last, new)))
            if (one.st_dev, one.st_ino) != (other.st_dev, other.st_ino):
                return False
            os.unlink(name, dir_fd=old)  # no fsync: a name that comes back is dropped again
        return True

    def changed_ns(self, key: str) -> int:
        """Return the modification time of a file, folder or link, nanoseconds."""
        with self.parent(key) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns

    def exchange(self, one: str, other: str) -> bool:
        """Exchange two folders or two files atomically; returns False where the system or file system cannot."""
        with self.parent(one) as (first, name), self.parent(other) as (second, last):
            call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
            if call is None:
                return False
            if call(first, os.fsencode(name), second, os.fsencode(last), _EXCHANGE) == 0:
                os.fsync(first)
                os.fsync(second)
                return True
            code = ctypes.get_errno()
            if code in {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP}:
                return False
            raise OSError(code, os.strerror(code), f"{self.root}/{other}")


def mark_in(folder: int, name: str) -> FileMark | None:
    """Return the mark of a regular file in an open folder; None for anything else.

    Raises:
        FileNotFoundError: the name does not exist.
    """
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return FileMark(found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _remove_in(folder: int, name: str, mark: FileMark | None) -> bool:
    with suppress(FileNotFoundError):
        found = mark_in(folder, name)
        if found is not None and (mark is None or mark.fits(found)):
            os.unlink(name, dir_fd=folder)
            return True
    return False


def _exists(folder: int, name: str) -> bool:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return True
    return False


def _fsync_regular(sources: list[tuple[Path, str]]) -> None:
    for source, _ in sources:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StorageError(f"{source} is not a regular file; this is a bug, report it")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
