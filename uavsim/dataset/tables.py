"""Table files: a JSON array with one row per line, written and read as a stream."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from uavsim.dataset.collector import collector_paused
from uavsim.dataset.fragment import json_row
from uavsim.files.json_rows import rows_of
from uavsim.files.parse import open_regular
from uavsim.files.whole import (
    AGAIN,
    HeldPath,
    begin_temp,
    parent_of,
    refuse_special,
    storage_error,
    storage_errors,
    write_whole,
)
from uavsim.typing import JsonDict

_OPEN, _BETWEEN, _CLOSE = b"[\n", b",\n", b"\n]\n"
_HANDED_OVER_BYTES: Final = 16 << 20  # written text between two requests to flush the page cache


class TableWriter:
    """Writes one table to a temporary file; ``keep`` renames it to its final path."""

    def __init__(self, path: Path | HeldPath) -> None:
        """Open a temporary file in ``path``'s folder, and the folder.

        Raises:
            StorageError: the file cannot be written.
        """
        self.path = path
        self.row_count = 0
        self._unsent_bytes = 0
        with storage_errors(f"write {path}", again=AGAIN), ExitStack() as opened:
            self._folder = opened.enter_context(parent_of(path))
            refuse_special(self._folder, path.name, display_path=path)
            self._temporary, self._file = begin_temp(self._folder, path.name, buffering=1 << 18)
            self._opened = opened.pop_all()
        self._write(_OPEN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.discard()

    def add(self, row: JsonDict) -> None:
        """Append one row."""
        self.add_lines(json_row(row), count=1)

    def add_lines(self, lines: bytes, *, count: int) -> None:
        """Append ``count`` rows of text, one per line, without a newline at the end."""
        if not count:
            return
        if self.row_count:
            self._write(_BETWEEN)
        self._write(lines.replace(b"\n", _BETWEEN))
        self.row_count += count

    def keep(self) -> None:
        """Finish the table and rename it to its final path."""
        self._write(_CLOSE if self.row_count else b"]\n")
        with storage_errors(f"write {self.path}", again=AGAIN):
            self._file.flush()
            os.fsync(self._file.fileno())
            os.replace(self._temporary, self.path.name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            self._file.close()

    def leave_out(self) -> None:
        """Remove an existing file of the table, because the table has no rows."""
        with suppress(FileNotFoundError):
            os.unlink(self.path.name, dir_fd=self._folder)

    def discard(self) -> None:
        """Remove the temporary file, if ``keep`` was not called, and close the folder."""
        with self._opened:
            with suppress(OSError):  # on a full disk the last bytes cannot be written
                self._file.close()
            with suppress(FileNotFoundError):
                os.unlink(self._temporary, dir_fd=self._folder)

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._unsent_bytes += len(data)
            if self._unsent_bytes > _HANDED_OVER_BYTES:
                self._hand_over()
        except OSError as error:
            raise storage_error(f"write {self.path}", error, again=AGAIN) from error

    def _hand_over(self) -> None:
        """Ask the system to write and drop the pages of the file.

        Otherwise tables of several gigabytes fill the page cache, displace the pages of the simulator, and reach the disk in
        one long wait at the end.
        """
        self._unsent_bytes = 0
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write_rows(path: Path | HeldPath, rows: Iterable[JsonDict]) -> int:
    """Write a table; returns the number of rows."""
    with TableWriter(path) as table:
        for row in rows:
            table.add(row)
        table.keep()
    return table.row_count


def write_json(path: Path | HeldPath, value: Mapping[str, object]) -> None:
    """Write a small JSON object, indented, atomically.

    Raises:
        StorageError: the file cannot be written.
    """
    write_whole(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode("ascii"))


def iter_rows(path: Path) -> Iterator[JsonDict]:
    """Yield a table's rows; see ``rows_of``.

    Raises:
        DatasetError: the table is missing, or no JSON array of objects.
    """
    with open_regular(path) as file:
        yield from rows_of(file, name=path)


def read_rows(path: Path) -> list[JsonDict]:
    """Return all rows of a table.

    Raises:
        DatasetError: the table is missing, or no JSON array of objects.
    """
    with collector_paused():
        return list(iter_rows(path))
