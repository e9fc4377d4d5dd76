"""A dataset in an object store, through fsspec; no other module imports fsspec.

Scenes are flown and labelled in a local scratch folder, then uploaded. The upload of one object is atomic; the ledger entry is
uploaded last, so that a scene is complete if its entry exists, as on a disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import fsspec
from fsspec.core import url_to_fs

from uavsim.environment import cache_folder, install_line
from uavsim.errors import InputError, StorageError
from uavsim.files.names import name_fault
from uavsim.files.own_folder import FileMark
from uavsim.store.journal import redact
from uavsim.store.local import LocalOutput

_UPLOADS = 8
_POLL_S = 0.2
_GRACE_S = 3.0  # grace period at the end of the run
_T = TypeVar("_T")


@dataclass
class _End:
    """The time at which waiting for the store ends, by ``time.monotonic``."""

    at_s: float = math.inf


@dataclass(frozen=True, slots=True)
class ObjectOutput:
    """A prefix in an object store, with a local scratch folder for scenes in flight.

    Locks work between processes of this machine that share the scratch folder. Between machines, Prefect gives a scene to one
    worker at a time; two uploads of one scene are the same bytes.
    """

    url: str
    scratch: LocalOutput
    _fs: Any
    _prefix: str
    _ends: _End = field(default_factory=_End, compare=False)

    @staticmethod
    def open(url: str, *, scratch: Path | None = None) -> ObjectOutput:
        """Open a URL; does not touch the store.

        Raises:
            InputError: the kind of store is unknown, or its driver is not installed.
        """
        scheme, _, rest = url.partition("://")
        try:
            file_system, prefix = url_to_fs(url.rstrip("/"), use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"--out {redact(url)}: {' '.join(str(error).split())}; for s3://: {install_line('s3')}; known: "
                f"{', '.join(sorted(set(fsspec.available_protocols()) & {'s3', 'gs', 'az', 'abfs', 'gcs'}))}"
            ) from error
        if not rest.strip("/") or scheme in {"http", "https"}:
            raise InputError(
                f"--out {redact(url)}: name a writable store with bucket and prefix, such as s3://bucket/data"
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
        """False."""
        return False

    def read(self, key: str) -> bytes | None:
        """Return the object's bytes, or None."""
        with self._errors(f"read {key}"):
            try:
                return bytes(self._call("cat_file", self._path(key)))
            except FileNotFoundError:
                return None

    def replace(self, key: str, data: bytes) -> None:
        """Upload one object."""
        with self._errors(f"write {key}"):
            self._call("pipe_file", self._path(key), data)

    def create(self, key: str, data: bytes) -> bool:
        """Upload one object unless it exists."""
        with self._errors(f"write {key}"):
            try:
                self._call("pipe_file", self._path(key), data, mode="create")
            except FileExistsError:
                return False
        return True

    def keys(self, folder: str) -> list[str]:
        """Return every object below a folder."""
        with self._errors(f"list {folder or '/'}"):
            try:
                found = self._call("find", self._path(folder) if folder else self._prefix)
            except FileNotFoundError:
                return []
            return sorted(str(PurePosixPath(path).relative_to(self._prefix)) for path in found)

    def read_all(self, folder: str) -> dict[str, bytes]:
        """Return the bytes of every object of a folder by name, in parallel."""
        keys = [key for key in self.keys(folder) if key.rpartition("/")[0] == folder]
        with self._errors(f"read {folder}"):
            found = self._call("cat", [self._path(key) for key in keys], on_error="return") if keys else {}
            for data in found.values():
                if isinstance(data, Exception) and not isinstance(data, FileNotFoundError):  # removed since the listing
                    raise data
            read = {key.rpartition("/")[2]: found[self._path(key)] for key in keys}
            return {name: bytes(data) for name, data in read.items() if not isinstance(data, Exception)}

    def same(self, key: str, path: Path) -> bool:
        """Compare sizes, then fetch and compare."""
        return self._size(key) == path.stat().st_size and self.read(key) == path.read_bytes()

    def remove(self, marks: Mapping[str, FileMark | None]) -> list[str]:
        """Remove objects of matching size; stores do not report the time of the original file."""
        removed = []
        for key, mark in marks.items():
            size = self._size(key)
            if size is not None and (mark is None or mark.size_bytes == size):
                with self._errors("remove objects"), contextlib.suppress(FileNotFoundError):
                    self._call("rm_file", self._path(key))
                    removed.append(key)
        return removed

    def adopt(self, folder: Path, *, moves: Mapping[str, str]) -> None:
        """Upload files in parallel; the local files stay."""

        def upload(pair: tuple[str, str]) -> None:
            if self._size(pair[1]) is not None:
                raise StorageError(
                    f"{self.address}/{pair[1]} exists, and no manifest lists it; move it away and run the same command again"
                )
            self._call("put_file", str(folder / pair[0]), self._path(pair[1]))

        self._in_parallel(upload, sorted(moves.items()), what="upload a scene")

    def publish(self, folder: Path, *, versions: Iterable[str]) -> None:
        """Upload tables and maps one by one: stores cannot replace many objects in one step."""
        roots = (*versions, "maps")
        names = [str(path.relative_to(folder)) for root in roots for path in sorted((folder / root).rglob("*.*"))]

        def upload(name: str) -> None:
            self._call("put_file", str(folder / name), self._path(name))

        self._in_parallel(upload, names, what="upload the tables")

    def stage(self, scene: str) -> Path:
        """Make a folder in the scratch folder."""
        return self.scratch.stage(scene)

    def drop_staged(self, folder: Path) -> None:
        """Remove a folder from the scratch folder."""
        self.scratch.drop_staged(folder)

    @contextlib.contextmanager
    def lock(self, scene: str) -> Iterator[bool]:
        """Lock the scene among the processes of this machine."""
        with self.scratch.lock(scene) as locked:
            yield locked

    def sweep_leftovers(self) -> list[str]:
        """Remove leftovers in the scratch folder; a store has no partial objects."""
        return self.scratch.sweep_leftovers()

    def give_up(self) -> None:
        """End all waiting for the store after the grace period."""
        self._ends.at_s = time.monotonic() + _GRACE_S

    def _size(self, key: str) -> int | None:
        with self._errors(f"look at {key}"):
            try:
                return int(self._call("info", self._path(key))["size"])
            except FileNotFoundError:
                return None

    def _in_parallel(self, work: Callable[[_T], None], items: Iterable[_T], *, what: str) -> None:
        with self._errors(what), ThreadPoolExecutor(_UPLOADS, thread_name_prefix="upload") as pool:
            try:
                for _ in pool.map(work, items):
                    pass
            except KeyboardInterrupt:
                self.give_up()
                raise

    def _call(self, verb: str, *arguments: Any, **keywords: Any) -> Any:
        """Call the store's driver, which may retry for minutes, in a thread of its own.

        Raises:
            StorageError: the run ends, and the store does not answer.
        """
        answer: Future[Any] = Future()

        def work() -> None:
            try:
                answer.set_result(getattr(self._fs, verb)(*arguments, **keywords))
            except BaseException as error:  # noqa: BLE001 - re-raised in the caller's thread
                answer.set_exception(error)

        threading.Thread(target=work, name=f"store {verb}", daemon=True).start()
        while not wait((answer,), timeout=_POLL_S).done:
            if time.monotonic() > self._ends.at_s:
                raise StorageError(f"{self.address} did not answer before the end of the run")
        return answer.result()

    def _path(self, key: str) -> str:
        if name_fault(key):
            raise StorageError(f"path {key!a} {name_fault(key)}; this is a bug, report it")
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
    return cache_folder() / "scratch" / hashlib.sha256(url.encode()).hexdigest()[:16]
