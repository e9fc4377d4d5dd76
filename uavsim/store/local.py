"""A dataset in a folder: hard links on one file system, ordered fsync calls, kernel locks per scene."""

import fcntl
import filecmp
import os
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from uavsim.errors import StorageError
from uavsim.files.own_folder import FileMark, OwnFolder
from uavsim.files.whole import storage_errors
from uavsim.store.layout import STAGED_MARK, scene_of_staging, staging_name
from uavsim.store.publish import publish_tables, return_foreign_files

_STAGING = ".uavsim/staging"


@dataclass(frozen=True, slots=True)
class LocalOutput:
    """A folder on this machine, or on a shared disk."""

    root: Path

    @property
    def address(self) -> str:
        """The folder."""
        return str(self.root)

    @property
    def is_local(self) -> bool:
        """True: the folder is the dataset."""
        return True

    @property
    def _folder(self) -> OwnFolder:
        return OwnFolder(self.root)

    def read(self, key: str) -> bytes | None:
        """Return the file's bytes, or None if it does not exist."""
        with storage_errors(f"read {key}"):
            return self._folder.read(key)

    def replace(self, key: str, data: bytes) -> None:
        """Write or replace the file atomically."""
        with storage_errors(f"write {key} in {self.root}"):
            self._folder.replace(key, data)

    def create(self, key: str, data: bytes) -> bool:
        """Write the file unless it exists."""
        with storage_errors(f"write {key} in {self.root}"):
            return self._folder.create(key, data)

    def keys(self, folder: str) -> list[str]:
        """Return the files below a folder, without links and leftovers of interrupted writes."""
        with storage_errors(f"list {folder} in {self.root}"):
            return self._folder.walk(folder)

    def read_all(self, folder: str) -> dict[str, bytes]:
        """Return the bytes of every file of a folder, by name."""
        with storage_errors(f"read {folder} in {self.root}"):
            return self._folder.read_all(folder)

    def same(self, key: str, path: Path) -> bool:
        """Compare size, then bytes."""
        with storage_errors(f"read {key}"):
            mark = self._folder.mark(key)
            return mark is not None and filecmp.cmp(self.root / key, path, shallow=False)

    def remove(self, marks: Mapping[str, FileMark | None]) -> list[str]:
        """Remove files, and the folder of a recording that this empties."""
        with storage_errors(f"remove files in {self.root}"):
            removed = self._folder.remove(marks)
            for folder in sorted({key.rpartition("/")[0] for key in marks if key.startswith(".uavsim/recordings/")}):
                self._folder.remove_empty(folder)
            return removed

    def adopt(self, folder: Path, *, moves: Mapping[str, str]) -> None:
        """Move files of ``folder`` to their names in the dataset."""
        with storage_errors(f"move a scene into {self.root}"):
            self._folder.take([(folder / source, key) for source, key in sorted(moves.items())])

    def publish(self, folder: Path, *, versions: Iterable[str]) -> None:
        """Move tables and maps from a staging folder into the dataset."""
        with storage_errors(f"move the tables of {self.root} into place"):
            publish_tables(self._folder, f"{_STAGING}/{folder.name}", versions=versions)

    def stage(self, scene: str) -> Path:
        """Make a folder for one attempt, with a mark by which later runs recognise it."""
        with storage_errors(f"stage {scene} in {self.root}"):
            name = staging_name(scene)
            folder = self._folder.make_folder(f"{_STAGING}/{name}")
            self._folder.create(f"{_STAGING}/{name}/{STAGED_MARK}", b"")
            return folder

    def drop_staged(self, folder: Path) -> None:
        """Remove the folder of an attempt, after moving foreign files in it back; if that fails, the folder stays."""
        with suppress(StorageError, OSError):
            return_foreign_files(self._folder, f"{_STAGING}/{folder.name}")
            self._folder.remove_tree(f"{_STAGING}/{folder.name}", last=STAGED_MARK)

    @contextmanager
    def lock(self, scene: str) -> Iterator[bool]:
        """Lock the scene's byte of the lock file; open-file-description locks also work between threads."""
        with storage_errors(f"lock scene {scene} in {self.root}"):
            descriptor = self._folder.open_append(".uavsim/locks")
        try:
            yield _try_lock(descriptor, offset=zlib.crc32(scene.encode()))
        finally:
            os.close(descriptor)  # releases the lock

    def give_up(self) -> None:
        """Do nothing: a disk does not hang."""

    def sweep_leftovers(self) -> list[str]:
        """Remove temporary files and staged scenes of dead processes; returns their keys."""
        with storage_errors(f"remove leftovers in {self.root}"):
            staged = [name for name, mode in self._folder.names(_STAGING) if stat.S_ISDIR(mode)]
            dropped = [f"{_STAGING}/{name}" for name in staged if self._drop_dead(name)]
            return sorted(dropped + self._folder.sweep_temps(".uavsim") + self._folder.sweep_temps("maps"))

    def _drop_dead(self, name: str) -> bool:
        scene = scene_of_staging(name)
        if scene is None:
            return False
        with self.lock(scene) as locked:
            if not locked:
                return False
            key = f"{_STAGING}/{name}"
            if self._folder.mark(f"{key}/{STAGED_MARK}") is None:  # killed before the mark, or a foreign folder
                self._folder.remove_empty(key)
                return not (self.root / key).exists()
            return_foreign_files(self._folder, key)
            self._folder.remove_tree(key, last=STAGED_MARK)
            return True


def _try_lock(descriptor: int, *, offset: int) -> bool:
    request = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)  # struct flock of 64-bit Linux
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, request)
    except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: held by another
        return False
    return True
