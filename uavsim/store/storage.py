"""A data set in an object store, behind fsspec: the only fsspec import.

Scenes are flown and labelled on a local scratch folder and uploaded whole. An upload of one object is atomic in these stores;
the ledger's object is uploaded last, so a scene is there when its entry is, exactly as on a disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import fsspec
from fsspec.core import url_to_fs

from uavsim.errors import InputError, StorageError
from uavsim.store.journal import redact
from uavsim.store.local import LocalOutput

__all__ = ["ObjectOutput"]

_UPLOADS = 8


@dataclass(frozen=True, slots=True)
class ObjectOutput:
    """A prefix in an object store, with a local folder for what is in flight.

    Locks hold between the processes of this machine that share the scratch folder; between machines a scene is handed to
    one worker at a time by Prefect, and two uploads of one scene are the same bytes.
    """

    url: str
    scratch: LocalOutput
    _fs: Any
    _prefix: str

    @staticmethod
    def open(url: str, *, scratch: Path | None = None) -> ObjectOutput:
        """Open a URL; touches nothing.

        Raises:
            InputError: no such kind of store, or its driver is not installed.
        """
        scheme, _, rest = url.partition("://")
        try:
            file_system, prefix = url_to_fs(url.rstrip("/"), use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"--out {redact(url)}: {' '.join(str(error).split())}; for s3:// install uavsim[s3], known: "
                f"{', '.join(sorted(set(fsspec.available_protocols()) & {'s3', 'gs', 'az', 'abfs', 'gcs'}))}"
            ) from error
        if not rest.strip("/") or scheme in {"http", "https"}:
            raise InputError(
                f"--out {redact(url)}: name a writable store with a bucket and a prefix, as s3://bucket/data"
            )
        folder = scratch or _default_scratch(url)
        return ObjectOutput(url, LocalOutput(folder.absolute()), file_system, prefix)

    @property
    def address(self) -> str:
        """The URL without credentials."""
        return redact(self.url)

    @property
    def root(self) -> Path:
        """The scratch folder."""
        return self.scratch.root

    @property
    def is_local(self) -> bool:
        """Never."""
        return False

    def read(self, key: str) -> bytes | None:
        """Return the object's bytes, or None."""
        with self._errors(f"read {key}"):
            try:
                return bytes(self._fs.cat_file(self._path(key)))
            except FileNotFoundError:
                return None

    def replace(self, key: str, data: bytes) -> None:
        """Upload one object."""
        with self._errors(f"write {key}"):
            self._fs.pipe_file(self._path(key), data)

    def create(self, key: str, data: bytes) -> bool:
        """Upload one object unless it exists."""
        with self._errors(f"write {key}"):
            try:
                self._fs.pipe_file(self._path(key), data, mode="create")
            except FileExistsError:
                return False
        return True

    def keys(self, folder: str) -> list[str]:
        """Return every object below a folder."""
        with self._errors(f"list {folder or '/'}"):
            try:
                found = self._fs.find(self._path(folder) if folder else self._prefix)
            except FileNotFoundError:
                return []
            return sorted(str(PurePosixPath(path).relative_to(self._prefix)) for path in found)

    def remove(self, keys: Iterable[str]) -> None:
        """Remove objects."""
        with self._errors("remove objects"):
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    self._fs.rm_file(self._path(key))

    def adopt(self, folder: Path, *, moves: Mapping[str, str]) -> None:
        """Upload files, several at a time; the local ones are left for their folder's end."""

        def upload(pair: tuple[str, str]) -> None:
            self._fs.put_file(str(folder / pair[0]), self._path(pair[1]))

        with self._errors("upload a scene"), ThreadPoolExecutor(_UPLOADS, thread_name_prefix="upload") as pool:
            for _ in pool.map(upload, sorted(moves.items())):
                pass

    @contextlib.contextmanager
    def lock(self, scene: str) -> Iterator[bool]:
        """Hold the scene among the processes of this machine."""
        with self.scratch.lock(scene) as ours:
            yield ours

    def sweep_leftovers(self) -> list[str]:
        """Remove what dead processes left in the scratch folder; the store itself keeps no half objects."""
        return self.scratch.sweep_leftovers()

    def _path(self, key: str) -> str:
        self.scratch.layout.inside(key)  # refuses what climbs out
        return f"{self._prefix}/{key}"

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except StorageError:
            raise
        except Exception as error:
            reason = redact(" ".join(str(error).split())) or type(error).__name__
            raise StorageError(
                f"cannot {what} in {self.address}: {reason}; check address and credentials, then run the same command again"
            ) from error


def _default_scratch(url: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "uavsim" / "scratch" / hashlib.sha256(url.encode()).hexdigest()[:16]
