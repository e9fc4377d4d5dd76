"""The place a dataset is written to: a folder, or an object store behind the same few verbs."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from uavsim.files.own_folder import FileMark


class Output(Protocol):
    """The target of committed scenes. Keys are ``/``-separated paths relative to the dataset's root.

    Every verb raises ``StorageError`` when the place cannot be read or written. No verb follows a link inside the place,
    and none but ``replace`` and ``publish`` touches a file that is there.
    """

    @property
    def address(self) -> str:
        """The place as people name it: a folder or a URL without credentials."""

    @property
    def root(self) -> Path:
        """Local folder for the run's own files; for a folder on disk, the dataset itself."""

    @property
    def is_local(self) -> bool:
        """Return whether ``root`` is the dataset itself."""

    def read(self, key: str) -> bytes | None:
        """Return the bytes at ``key``, or None when nothing is there."""

    def replace(self, key: str, data: bytes) -> None:
        """Write ``key`` whole or not at all; after the return it is durable."""

    def create(self, key: str, data: bytes) -> bool:
        """Write ``key`` unless it exists; exactly one of several writers gets True."""

    def keys(self, folder: str) -> list[str]:
        """Return every key below ``folder``, sorted; empty when the folder is not there."""

    def read_all(self, folder: str) -> dict[str, bytes]:
        """Return the bytes of every file of one folder by its name, in order of name; none when it is not there."""

    def same(self, key: str, path: Path) -> bool:
        """Return whether ``key`` holds the very bytes of a local file."""

    def remove(self, marks: Mapping[str, FileMark | None]) -> list[str]:
        """Remove keys whose files still have these marks (None: the key alone proves it); returns those removed."""

    def adopt(self, folder: Path, *, moves: Mapping[str, str]) -> None:
        """Take files from a local folder: ``moves`` maps names in ``folder`` to keys; durable on return, never over a file."""

    def publish(self, folder: Path, *, versions: Iterable[str]) -> None:
        """Put new tables from a local folder into their places: each version folder whole, in one step where that can be."""

    def stage(self, scene: str) -> Path:
        """Make a folder of its own for one attempt at a scene, on a local disk."""

    def drop_staged(self, folder: Path) -> None:
        """Remove a folder that ``stage`` made; what cannot be removed now is swept by the next run."""

    def lock(self, scene: str) -> AbstractContextManager[bool]:
        """Hold the scene for this process as long as the context lasts; yields False when another holds it.

        The kernel drops the lock when its holder dies, however it dies.
        """

    def give_up(self) -> None:
        """Let nobody wait for a place that does not answer: the run is ending. Verbs that wait raise ``StorageError``."""

    def sweep_leftovers(self) -> list[str]:
        """Remove what interrupted writes left behind; returns the keys."""
