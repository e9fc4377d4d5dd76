"""Tables read as a stream: JSON arrays of objects, of any size and in any layout."""

import json
import re
from collections.abc import Iterator
from io import TextIOWrapper
from typing import Any, BinaryIO, Final

from uavsim.errors import DatasetError
from uavsim.files.parse import parse_json
from uavsim.typing import JsonDict

_BLOCK_CHARACTERS: Final = 1 << 16
_MOST_ROW_CHARACTERS: Final = 1 << 26
_SPACE: Final = r"[ \t\r\n]*"
_FIRST: Final = re.compile(rf"{_SPACE}\[{_SPACE}")
_NEXT: Final = re.compile(rf"{_SPACE},{_SPACE}")
_END: Final = re.compile(rf"{_SPACE}\]{_SPACE}")
_EMPTY: Final = re.compile(rf"{_SPACE}\[{_SPACE}\]{_SPACE}")


def rows_of(file: BinaryIO, *, name: object) -> Iterator[JsonDict]:
    """Yield the objects of a JSON array, with one block of text in memory, and its rows if each has its own line.

    Args:
        file: the open table; closed at the end.
        name: name of the table in messages.

    Raises:
        DatasetError: the file is no JSON array of objects, or cannot be read.
    """
    decoder = json.JSONDecoder()
    text, offset, line_end, count, before_row, is_in_lines = "", 0, 0, 0, _FIRST, True
    try:
        with TextIOWrapper(file, encoding="utf-8") as source:
            while True:
                found = before_row.match(text, offset)
                start = len(text) if found is None else found.end()
                if is_in_lines and (lines := _complete_lines(text, start, line_end)):
                    rows = _rows_of_lines(lines, name)
                    is_in_lines = rows is not None
                    if rows is not None:
                        yield from rows
                        offset, count, before_row = start + len(lines), count + len(rows), _NEXT
                        continue
                try:
                    row, end = decoder.raw_decode(text, start)
                except json.JSONDecodeError as error:
                    is_too_long = len(text) - offset > _MOST_ROW_CHARACTERS
                    more = "" if is_too_long else source.read(max(_BLOCK_CHARACTERS, len(text) - offset))
                    if not more and (_EMPTY if before_row is _FIRST else _END).fullmatch(text, offset):
                        return
                    if not more:
                        is_array = found is not None or before_row is _NEXT
                        fault = f"invalid JSON after {count} rows ({error.msg})" if is_array else "not a JSON array"
                        raise DatasetError(f"{name}: {fault}") from error
                    text, offset = text[offset:] + more, 0
                    line_end = text.rfind("\n")
                    continue
                yield _object(row, name)
                offset, count, before_row = end, count + 1, _NEXT
    except DatasetError:
        raise
    except (OSError, ValueError, RecursionError) as error:  # not UTF-8, too many digits, too many brackets
        raise DatasetError(f"{name}: cannot be read: {str(error)[:120]}") from error


def _complete_lines(text: str, start: int, line_end: int) -> str:
    """Return the rows from ``start`` to the last end of a line, without the comma or bracket behind them."""
    lines = text[start : max(line_end, start)].rstrip()
    return lines[:-1].rstrip() if lines.endswith((",", "]")) else lines


def _rows_of_lines(lines: str, name: object) -> list[JsonDict] | None:
    """Return the rows of complete lines; None if a row continues behind them. This is three times faster than row by row."""
    try:
        return [_object(row, name) for row in parse_json(f"[{lines}]")]
    except ValueError:
        return None


def _object(row: Any, name: object) -> JsonDict:
    if not isinstance(row, dict):
        raise DatasetError(f"{name}: a row is not a JSON object")
    return row
