"""A data set in a folder: renames inside one file system, fsync in the right order, kernel locks per scene."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from uavsim.store.atomic import (
    TEMP_SUFFIX,
    create_bytes,
    fsync_file,
    fsync_folder,
    make_folders,
    replace_bytes,
    storage_errors,
    sweep_temp,
)
from uavsim.store.layout import OutLayout, scene_of_staging

__all__ = ["LocalOutput"]


@dataclass(frozen=True, slots=True)
class LocalOutput:
    """A folder on this machine, or one that several machines share."""

    root: Path

    @property
    def address(self) -> str:
        """The folder."""
        return str(self.root)

    @property
    def is_local(self) -> bool:
        """Always: the folder is the data set."""
        return True

    @property
    def layout(self) -> OutLayout:
        """Paths below the folder."""
        return OutLayout(self.root)

    def read(self, key: str) -> bytes | None:
        """Return the file's bytes, or None."""
        with storage_errors(f"read {key}"):
            try:
                return self.layout.inside(key).read_bytes()
            except FileNotFoundError:
                return None

    def replace(self, key: str, data: bytes) -> None:
        """Write the file whole, replacing what was there."""
        with storage_errors(f"write {key} in {self.root}"):
            replace_bytes(self.layout.inside(key), data)

    def create(self, key: str, data: bytes) -> bool:
        """Write the file unless it exists."""
        with storage_errors(f"write {key} in {self.root}"):
            return create_bytes(self.layout.inside(key), data)

    def keys(self, folder: str) -> list[str]:
        """Return the files below a folder; leftovers of interrupted writes are not among them."""
        with storage_errors(f"list {folder} in {self.root}"):
            top = self.layout.inside(folder)
            return sorted(
                os.path.relpath(os.path.join(where, name), self.root)  # noqa: PTH118 - a million files: no Path each
                for where, _, names in os.walk(top, onerror=_raise_unless_missing)
                for name in names
                if not name.endswith(TEMP_SUFFIX)
            )

    def remove(self, keys: Iterable[str]) -> None:
        """Remove files, and the folders of one scene that this empties."""
        with storage_errors(f"remove files in {self.root}"):
            paths = [self.layout.inside(key) for key in keys]
            for path in paths:
                path.unlink(missing_ok=True)
            for folder in {path.parent for path in paths}:
                _drop_empty_and_fsync(folder, below=self.layout.meta / "recordings")

    def adopt(self, folder: Path, *, moves: Mapping[str, str]) -> None:
        """Rename files out of ``folder`` into the data set.

        First the bytes of every file, then the names: a name that is on disk always has its bytes.
        """
        with storage_errors(f"move a scene into {self.root}"):
            pairs = [(folder / source, self.layout.inside(key)) for source, key in sorted(moves.items())]
            for source, _ in pairs:
                fsync_file(source)
            parents = sorted({target.parent for _, target in pairs})
            make_folders(parents)
            for source, target in pairs:
                source.rename(target)
            for parent in parents:
                fsync_folder(parent)

    @contextmanager
    def lock(self, scene: str) -> Iterator[bool]:
        """Hold one byte of the lock file, the scene's own; open-file-description locks work between threads too."""
        with storage_errors(f"lock scene {scene} in {self.root}"):
            make_folders([self.layout.meta])
            descriptor = os.open(self.layout.locks, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            yield _try_lock(descriptor, offset=zlib.crc32(scene.encode()))
        finally:
            os.close(descriptor)  # drops the lock

    def sweep_leftovers(self) -> list[str]:
        """Remove temp files and staged scenes whose writers died; returns what was removed."""
        with storage_errors(f"remove leftovers in {self.root}"):
            staged = [folder.name for folder in self.layout.staging.iterdir()] if self.layout.staging.is_dir() else []
            dropped = [f".uavsim/staging/{name}" for name in staged if self._drop_staged(name)]
            temps = [
                Path(where, name)
                for top in (self.layout.meta, *self.root.glob("v1.0-*"), self.root / "maps")
                for where, _, names in os.walk(top, onerror=_raise_unless_missing)
                for name in names
                if name.endswith(TEMP_SUFFIX)
            ]
            return sorted(dropped + [str(temp.relative_to(self.root)) for temp in temps if sweep_temp(temp)])

    def _drop_staged(self, name: str) -> bool:
        with self.lock(scene_of_staging(name)) as ours:
            if ours:
                shutil.rmtree(self.layout.staging / name)
            return ours


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _try_lock(descriptor: int, *, offset: int) -> bool:
    request = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, offset, 1, 0)  # struct flock of 64-bit Linux
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, request)
    except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: held by another
        return False
    return True


def _drop_empty_and_fsync(folder: Path, *, below: Path) -> None:
    """Drop an empty folder of one scene; folders that scenes share stay, another process may be about to use them."""
    if below in folder.parents and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
    if folder.is_dir():
        fsync_folder(folder)
