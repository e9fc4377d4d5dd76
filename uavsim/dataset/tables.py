"""Table files: one JSON array, one row a line, written and read as a stream.

Any JSON reader takes such a file as the array that it is; a reader that knows takes it line by line and needs memory for
some hundred rows. Tables that others wrote (all in one line, or indented) are read whole.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self, cast

from uavsim.dataset.collector import collector_paused
from uavsim.dataset.fragment import json_row
from uavsim.errors import DatasetError
from uavsim.files.parse import open_regular, parse_json, read_regular
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
_READ_BYTES: Final = 1 << 16
_HANDED_OVER_BYTES: Final = 16 << 20  # the steps in which a table's text goes to the disk while the rest is made


class TableWriter:
    """Writes one table beside its final place; ``keep`` puts it there in one step."""

    def __init__(self, path: Path | HeldPath) -> None:
        """Open a temporary file in ``path``'s folder, and the folder.

        Raises:
            StorageError: it cannot be written.
        """
        self.path = path
        self.row_count = 0
        self._unsent_bytes = 0
        with storage_errors(f"write {path}", again=AGAIN), ExitStack() as opened:
            self._folder = opened.enter_context(parent_of(path))
            refuse_special(self._folder, path.name, shown=path)
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
        """Append ``count`` rows that are already text, one a line, no newline at the end."""
        if not count:
            return
        if self.row_count:
            self._write(_BETWEEN)
        self._write(lines.replace(b"\n", _BETWEEN))
        self.row_count += count

    def keep(self) -> None:
        """Finish the table and put it in its place."""
        self._write(_CLOSE if self.row_count else b"]\n")
        with storage_errors(f"write {self.path}", again=AGAIN):
            self._file.flush()
            os.fsync(self._file.fileno())
            os.replace(self._temporary, self.path.name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            self._file.close()

    def leave_out(self) -> None:
        """Remove a table that was there before: there is none this time."""
        with suppress(FileNotFoundError):
            os.unlink(self.path.name, dir_fd=self._folder)

    def discard(self) -> None:
        """Remove the temporary file, of which there is none after ``keep``, and close the folder."""
        with self._opened:
            with suppress(OSError):  # on a full disk its last bytes, which nobody needs, find no room
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
        """Let the system begin to write, and forget what it has written.

        Tables of several gigabytes would otherwise fill the memory with pages that nobody reads again, push out those of
        the simulator beside us, and all reach the disk in one long wait at the end.
        """
        self._unsent_bytes = 0
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write_rows(path: Path | HeldPath, rows: Iterable[JsonDict]) -> int:
    """Write a whole table; returns the number of rows."""
    with TableWriter(path) as table:
        for row in rows:
            table.add(row)
        table.keep()
    return table.row_count


def write_json(path: Path | HeldPath, value: Mapping[str, object]) -> None:
    """Write a small JSON object, indented for people, in one step.

    Raises:
        StorageError: it cannot be written.
    """
    write_whole(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode("ascii"))


def iter_rows(path: Path) -> Iterator[JsonDict]:
    """Yield a table's rows; a table in our form takes memory for some hundred rows only.

    Raises:
        DatasetError: missing, or no JSON array of objects.
    """
    try:
        with open_regular(path) as file:
            first = file.readline()
            if first.strip() == b"[":
                yield from _iter_lines(file, path)
                return
        rows = parse_json(read_regular(path))
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DatasetError(f"{path}: not JSON: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DatasetError(f"{path}: a table is a JSON array of objects")
    yield from rows


def read_rows(path: Path) -> list[JsonDict]:
    """Return all rows of a table.

    Raises:
        DatasetError: missing, or no JSON array of objects.
    """
    with collector_paused():
        return list(iter_rows(path))


def _iter_lines(file: BinaryIO, path: Path) -> Iterator[JsonDict]:
    """Yield rows from a file that has one object a line; fall back to reading all of it where it has not."""
    at = file.tell()
    while lines := file.readlines(_READ_BYTES):
        is_last = lines[-1].strip() == b"]"
        rows = _rows_of_lines(lines[:-1] if is_last else lines)
        if rows is None:
            yield from _rest(file, path, at=at)
            return
        yield from rows
        if is_last:
            return
        at += sum(map(len, lines))
    raise DatasetError(f"{path}: ends in the middle of the table")


def _rows_of_lines(lines: list[bytes]) -> list[JsonDict] | None:
    """Return the rows of whole lines, in half the time that they take one by one; None where they are none."""
    try:
        rows: list[JsonDict] = parse_json(b"[" + b"".join(lines).rstrip().removesuffix(b",") + b"]")
    except ValueError:
        return None
    return rows if all(isinstance(row, dict) for row in rows) else None


def _rest(file: BinaryIO, path: Path, *, at: int) -> Iterator[JsonDict]:
    file.seek(at)
    rows = parse_json(b"[" + file.read())
    if not all(isinstance(row, dict) for row in rows):
        raise DatasetError(f"{path}: a table is a JSON array of objects")
    yield from cast("list[JsonDict]", rows)
