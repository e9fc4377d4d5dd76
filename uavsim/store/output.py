"""The output of a run: a folder or an object store, with the same operations."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from uavsim.files.own_folder import FileMark


class Output(Protocol):
    """The storage of committed scenes. Keys are ``/``-separated paths relative to the dataset's root.

    Every method raises ``StorageError`` if the storage cannot be read or written. No method follows a link in the storage, and
    only ``replace``, ``remove`` and ``publish`` change existing files.
    """

    @property
    def address(self) -> str:
        """Folder, or URL without credentials."""

    @property
    def root(self) -> Path:
        """Local folder for the run's own files; for a local output, the dataset itself."""

    @property
    def is_local(self) -> bool:
        """Whether ``root`` is the dataset itself."""

    def read(self, key: str) -> bytes | None:
        """Return the bytes of ``key``, or None if it does not exist."""

    def replace(self, key: str, data: bytes) -> None:
        """Write ``key`` atomically and durably."""

    def create(self, key: str, data: bytes) -> bool:
        """Write ``key`` unless it exists; returns True for exactly one of several writers."""

    def keys(self, folder: str) -> list[str]:
        """Return every key below ``folder``, sorted; [] if the folder does not exist."""

    def read_all(self, folder: str) -> dict[str, bytes]:
        """Return the bytes of every file of one folder by name, sorted; {} if the folder does not exist."""

    def same(self, key: str, path: Path) -> bool:
        """Return whether ``key`` has the same bytes as a local file."""

    def remove(self, marks: Mapping[str, FileMark | None]) -> list[str]:
        """Remove keys if their files have these marks (None matches any file); returns the removed keys."""

    def adopt(self, folder: Path, *, moves: Mapping[str, str]) -> None:
        """Move files from a local folder durably, without replacing any; ``moves`` maps names in ``folder`` to keys."""

    def publish(self, folder: Path, *, versions: Iterable[str]) -> None:
        """Replace the version folders by those in a local folder, each in one step where the storage can do that."""

    def stage(self, scene: str) -> Path:
        """Make a local folder for one attempt at a scene."""

    def drop_staged(self, folder: Path) -> None:
        """Remove a folder that ``stage`` made; the next run sweeps the rest if that fails."""

    def lock(self, scene: str) -> AbstractContextManager[bool]:
        """Lock the scene for the duration of the context; yields False if another process holds it.

        The kernel releases the lock when its process dies.
        """

    def give_up(self) -> None:
        """Stop waiting for a storage that does not answer, because the run ends: waiting methods raise ``StorageError``."""

    def sweep_leftovers(self) -> list[str]:
        """Remove leftovers of interrupted writes; returns the keys."""
