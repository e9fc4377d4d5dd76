"""Unpacked sizes of a Parquet file's pages from the page headers, which readers use instead of the footer.

The footer and each page's header are structures of Thrift's compact protocol. Sources: Thrift's
``thrift-compact-protocol.md``; Parquet's ``parquet.thrift``: the constants below are its field numbers from ``FileMetaData``
to ``PageHeader``.
"""

from __future__ import annotations

from typing import Any, Final

_ROW_GROUPS, _COLUMNS, _ABOUT = 4, 1, 3
_PACKED_BYTES, _DATA_PAGE, _DICTIONARY_PAGE = 7, 9, 11
_UNPACKED_SIZE, _PACKED_SIZE = 2, 3
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_TAIL_BYTES: Final = 8  # the footer's length, and "PAR1"
_MOST_BYTES: Final = 1 << 20  # of a structure: Python objects take a hundred times as many


def unpacked_bytes(data: bytes) -> int:
    """Return the total unpacked size of the pages of all columns, bytes.

    Raises:
        ValueError: the file is no Parquet file, or a page lies outside of it.
    """
    try:
        end = len(data) - _TAIL_BYTES
        footer, _ = _read(data, end - int.from_bytes(data[end : end + 4], "little"))
        columns = [column[_ABOUT] for group in footer[_ROW_GROUPS] for column in group[_COLUMNS]]
        return sum(_unpacked(data, column) for column in columns)
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("its footer or a page header is damaged") from error


def _unpacked(data: bytes, column: dict[int, Any]) -> int:
    offset = min(column[_DATA_PAGE], column.get(_DICTIONARY_PAGE) or column[_DATA_PAGE])
    end, total = offset + column[_PACKED_BYTES], 0
    if not 0 <= offset <= end <= len(data):
        raise ValueError("a column lies outside of the file")
    while offset < end:
        header, offset = _read(data, offset)
        if header[_PACKED_SIZE] < 0 or header[_UNPACKED_SIZE] < 0:
            raise ValueError("a page has a negative size")
        offset, total = offset + header[_PACKED_SIZE], total + header[_UNPACKED_SIZE]
    return total


def _read(data: bytes, offset: int) -> tuple[dict[int, Any], int]:
    if offset < 0:
        raise ValueError("a structure lies outside of the file")
    fields, size = _struct(memoryview(data)[offset : offset + _MOST_BYTES], 0)
    return fields, offset + size


def _struct(data: memoryview, offset: int) -> tuple[dict[int, Any], int]:
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[offset]) != 0:
        offset += 1
        if head >> 4:
            number += head >> 4
        else:
            number, offset = _integer(data, offset)
        kind = head & 15
        fields[number], offset = (kind == _TRUE, offset) if kind in {_TRUE, _FALSE} else _value(kind, data, offset)
    return fields, offset + 1


def _value(kind: int, data: memoryview, offset: int) -> tuple[Any, int]:
    if kind in {_TRUE, _FALSE, _BYTE}:  # of a list
        return data[offset], offset + 1
    if kind == _DOUBLE:
        return data[offset + 7], offset + 8
    if kind == _BINARY:
        size, offset = _unsigned(data, offset)
        return None, offset + size
    if kind in {_LIST, _SET}:
        head, offset = data[offset], offset + 1
        count, offset = (head >> 4, offset) if head >> 4 < 15 else _unsigned(data, offset)
        items = []
        for _ in range(count):
            item, offset = _value(head & 15, data, offset)
            items.append(item)
        return items, offset
    if kind == _STRUCT:
        return _struct(data, offset)
    if kind == _MAP:
        raise ValueError("a header holds a map")
    return _integer(data, offset)


def _integer(data: memoryview, offset: int) -> tuple[int, int]:
    number, offset = _unsigned(data, offset)
    return (number >> 1) ^ -(number & 1), offset


def _unsigned(data: memoryview, offset: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 64, 7):
        byte = data[offset]
        offset, number = offset + 1, number | (byte & 127) << shift
        if byte < 128:
            return number, offset
    raise ValueError("a number has more than 64 bits")
