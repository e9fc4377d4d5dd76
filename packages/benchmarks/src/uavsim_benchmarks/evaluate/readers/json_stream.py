"""Streaming reader of large JSON files, with one member of an object in memory at a time."""

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, Self, cast

from uavsim.errors import InputError

MAX_FILE_BYTES: Final = 1 << 30
"""Size limit of files that are read at once."""

_CHUNK_BYTES: Final = 4 << 20
_BATCH: Final = 1 << 20
_LONGEST_VALUE: Final = 32 << 20
"""Limit in characters of one value; 500 boxes have less than a million."""

_WHITESPACE: Final = " \t\n\r"


class JsonStream:
    """A JSON file with values that are decoded one by one.

    Raises:
        InputError: the file cannot be read, is truncated, or is not JSON; raised by every method.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            opened = gzip.open if path.suffix == ".gz" else open
            self._file = cast("IO[bytes]", opened(path, "rb"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at, self._gone, self._ended = "", 0, 0, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def members(self, name: str) -> Iterator[str]:
        """Yield the keys of the next object; the caller reads each value with ``value`` or ``members``."""
        if self._next() != "{":
            raise InputError(f"{self.path}: {name} is not a JSON object")
        self._at += 1
        if self._next() == "}":
            self._at += 1
            return
        while True:
            key = self.value()
            if not isinstance(key, str) or self._next() != ":":
                raise self._not_json()
            self._at += 1
            yield key
            mark = self._next()
            self._at += 1
            if mark == "}":
                return
            if mark != ",":
                raise self._not_json()

    def batches(self, name: str) -> Iterator[list[Any]]:
        """Yield the values of the next array in batches; fast where each value ends with a list."""
        if self._next() != "[":
            raise InputError(f"{self.path}: {name}: not a JSON array")
        self._at += 1
        if self._next() == "]":
            self._at += 1
            return
        batch = self._batch()
        while True:
            yield batch or [self.value()]
            mark = self._next()
            self._at += 1
            if mark == "]":
                return
            if mark != ",":
                raise self._not_json()
            batch = self._batch() if batch else []  # no second attempt where the values do not end with a list

    def value(self, *, begins: str = "[", ends: str = "}]") -> Any:
        """Decode the next value.

        Args:
            begins: first character of values for the fast path.
            ends: last characters of such values, which must not occur within them.
        """
        if self._next() == begins and (end := self._text.find(ends, self._at) + len(ends)) >= len(ends):
            with suppress(ValueError, RecursionError):
                value = json.loads(self._text[self._at : end])
                self._at = end
                return value
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except RecursionError as error:
                raise InputError(f"{self.path}: nested too deeply at character {self._gone + self._at}") from error
            except ValueError as error:
                if self._ended:
                    raise self._not_json() from error
                if len(self._text) - self._at > _LONGEST_VALUE:
                    start, limit = self._gone + self._at, f"{_LONGEST_VALUE:,} characters"
                    raise InputError(f"{self.path}: no JSON value of at most {limit} at character {start}") from error
            else:
                if end < len(self._text) or self._ended:  # a number at the end of the text may go on
                    self._at = end
                    return value
            self._more()

    def _batch(self) -> list[Any]:
        """Decode a batch of array values that end with a list; empty where they do not."""
        while not self._ended and len(self._text) - self._at < _BATCH:
            self._more()
        end = self._text.rfind("]}", self._at, self._at + _BATCH) + 2
        with suppress(ValueError, RecursionError):
            if end > self._at:
                values: list[Any] = json.loads(f"[{self._text[self._at : end]}]")
                self._at = end
                return values
        return []

    def end(self) -> None:
        """Check that nothing follows."""
        while not self._ended or self._at < len(self._text):
            if self._at < len(self._text) and self._text[self._at] not in _WHITESPACE:
                raise self._not_json()
            self._at += 1
            if self._at >= len(self._text):
                self._more()

    def _next(self) -> str:
        """Return the next character that is not white space, without consuming it."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _WHITESPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                raise InputError(f"{self.path}: the file is truncated")
            self._more()

    def _more(self) -> None:
        if self._at > _CHUNK_BYTES:
            self._text, self._gone, self._at = self._text[self._at :], self._gone + self._at, 0
        try:
            data = self._file.read(max(_CHUNK_BYTES, len(self._text) - self._at))
            self._text += self._decode(data, final=not data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
        except ValueError as error:
            raise InputError(f"{self.path}: not UTF-8 text") from error
        self._ended = not data

    def _not_json(self) -> InputError:
        if self._ended:
            return InputError(f"{self.path}: the file is truncated or not JSON")
        return InputError(f"{self.path}: not JSON at character {self._gone + self._at}")


def read_json(path: Path, *, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Read a JSON file of bounded size.

    Raises:
        InputError: the file is missing, too large, or not JSON.
    """
    try:
        size = path.stat().st_size
        if size > max_bytes:
            raise InputError(f"{path}: {size / 1e9:.1f} GB exceed the limit of {max_bytes / 1e9:.1f} GB")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON, or truncated: {error}") from error
