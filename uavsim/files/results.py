"""A result folder, held open by its descriptor: files go into that folder, even if its name is replaced later.

Every folder of a file's path is opened in its parent without following links, so that a folder that is replaced by a link
while a command runs is refused.
"""

import errno
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Final, Self

from uavsim.errors import InputError, StorageError
from uavsim.files.own_folder import OwnFolder
from uavsim.files.result_folder import check_result_folder, refuse_no_folder
from uavsim.files.whole import AGAIN, storage_errors, sweep_folder, write_whole

UNFINISHED: Final = ".uavsim-unfinished"
"""Name of the file that marks a folder with an unfinished result; it holds the job."""
_MOST_MARK_BYTES: Final = 1 << 16
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class _FolderHandle:
    """A folder's descriptor, closed with its last user; then a created and still empty folder is removed."""

    def __init__(self, descriptor: int, *, made: bool = False) -> None:
        self.folder = OwnFolder(Path(f"/proc/self/fd/{descriptor}"))
        self.swept = set[str]()  # keys of folders without temp files of dead writers
        weakref.finalize(self, _close, descriptor, made=made)


def _close(descriptor: int, *, made: bool) -> None:
    if made:
        with suppress(OSError):  # it is not empty
            Path(f"/proc/self/fd/{descriptor}").readlink().rmdir()
    os.close(descriptor)


@dataclass(frozen=True, slots=True)
class ResultPath:
    """A path in an open folder; it is no ``os.PathLike``, so that no code opens it by its name.

    Attributes:
        display_path: path for messages.
        key: ``/``-separated name in the folder; "" for the folder itself.
    """

    display_path: Path
    handle: _FolderHandle
    key: str = ""

    @classmethod
    def open(cls, out: Path) -> Self:
        """Open, or create, a folder chosen by a user; it may be a link to a folder.

        Raises:
            InputError: the path cannot be a folder, or a folder in it is a link.
            StorageError: the folder cannot be created or opened.
        """
        check_result_folder(out)
        return cls._opened(out)

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Open, or create, the folder of a file chosen by a user, before computing its content.

        Raises:
            InputError: the file's parent cannot be a folder.
            StorageError: the folder cannot be created or opened.
        """
        refuse_no_folder(path.parent)
        return replace(cls._opened(path.parent), display_path=path, key=path.name)

    @classmethod
    def _opened(cls, out: Path) -> Self:
        with storage_errors(f"write {out}", again=AGAIN):
            try:
                return cls(out, _FolderHandle(os.open(out, _FOLDER)))
            except FileNotFoundError:
                path = Path(os.path.abspath(out))  # noqa: PTH100 - ".." goes, links stay
                path.parent.mkdir(parents=True, exist_ok=True)
            parent = os.open(path.parent, _FOLDER)
            try:
                os.mkdir(path.name, dir_fd=parent)
                return cls(out, _FolderHandle(os.open(path.name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent), made=True))
            finally:
                os.close(parent)

    def __truediv__(self, name: str) -> Self:
        return replace(self, display_path=self.display_path / name, key=f"{self.key}/{name}".lstrip("/"))

    def __str__(self) -> str:
        return str(self.display_path)

    @property
    def name(self) -> str:
        """The last path component."""
        return self.display_path.name

    def with_suffix(self, suffix: str) -> Self:
        """Return the path with another suffix."""
        display_path = self.display_path.with_suffix(suffix)
        head, slash, _ = self.key.rpartition("/")
        return replace(self, display_path=display_path, key=f"{head}{slash}{display_path.name}")

    @contextmanager
    def parent(self) -> Iterator[int]:
        """Open, or create, its parent folder; the first time, remove the temp files of killed writers there.

        Raises:
            StorageError: a path component is a link or no folder.
            OSError: the file system failed.
        """
        with self.handle.folder.parent(self.key, make=True, display_path=self.display_path) as (folder, _):
            key = self.key.rpartition("/")[0]
            if key not in self.handle.swept:
                self.handle.swept.add(key)
                sweep_folder(folder)
            yield folder

    def is_empty(self) -> bool:
        """Return whether the folder is empty or missing."""
        handle = self.handle.folder
        return not (handle.names(self.key) if self.key else any(handle.root.iterdir()))

    @contextmanager
    def unfinished(self, job: str) -> Iterator[None]:
        """Mark the folder while a result is written; after a kill, the same job continues.

        Args:
            job: one line that identifies the job: equal jobs write equal files.

        Raises:
            InputError: the folder holds other files.
        """
        mark = self / UNFINISHED
        if mark.exists():
            with mark.open_to_read() as file:
                if file.read(_MOST_MARK_BYTES).decode(errors="replace") != job:
                    raise InputError(f"{self}: holds the unfinished result of another command; choose a new folder")
        elif not self.is_empty():
            raise InputError(f"{self}: is not empty; choose a new folder")
        else:
            write_whole(mark, job.encode())
        try:
            yield
        except BaseException:
            if [path.name for path in self.handle.folder.root.iterdir()] == [UNFINISHED]:
                mark.remove()
            raise
        mark.remove()

    def make_folder(self) -> None:
        """Create the folder itself."""
        with (self / "x").parent():
            pass

    def exists(self) -> bool:
        """Return whether the path is a regular file."""
        return self.handle.folder.mark(self.key) is not None

    def remove(self) -> None:
        """Remove the regular file."""
        self.handle.folder.remove({self.key: None})

    def open_to_read(self) -> BufferedReader:
        """Open the regular file for reading.

        Raises:
            StorageError: the file is gone or was replaced.
        """
        with storage_errors(f"read {self}", again=AGAIN), self.parent() as folder:
            try:
                return os.fdopen(os.open(self.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder), "rb")
            except OSError as error:
                if error.errno == errno.ELOOP:
                    raise StorageError(f"{self} was replaced by a link; run the same command again") from error
                raise
