"""Counts of instance masks, in one pass over their pixels."""

import sys
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from uavsim.images import codec
from uavsim.images.compiled import kernel
from uavsim.images.png import FILTER_TYPE, encode_filtered, filtered_rows
from uavsim.typing import BoolArray, IntArray, UInt8Array, UInt16Array

__all__ = ["Int32Array", "decode", "encode", "extents_by_row", "moments", "runs_without_row", "split", "translated"]

Int32Array: TypeAlias = npt.NDArray[np.int32]
UInt32Array: TypeAlias = npt.NDArray[np.uint32]
UInt64Array: TypeAlias = npt.NDArray[np.uint64]

_FOUR_IDS: Final = np.uint64(0x0001000100010001)  # times an id: four pixels of it
_EIGHT_TAGS: Final = np.uint64(0x0101010101010101)
_LOW_BITS: Final = np.uint64(0x7F7F7F7F7F7F7F7F)
_FOUR_TAGS: Final = np.uint64(0xFFFFFFFF)
_BLOCK: Final = 8  # words that are looked at together, in one or two registers
_FIRST: Final = cast("int", np.int64(0))  # no literals, for each of which numba would compile a function of its own
_FOUR: Final = cast("int", np.int64(4))
_EIGHT: Final = cast("int", np.int64(8))


def decode(data: bytes) -> tuple[UInt16Array, UInt8Array]:
    """Decode a mask file: (H, W) ids and tags, as ``codec.mask_ids_and_tags`` does; of our own files in half the time.

    Raises:
        DatasetError: not a readable three-channel 8-bit image.
    """
    found = filtered_rows(data)
    if found is None or found[1] != 3 or not (found[0][:, 0] == FILTER_TYPE["up"]).all():
        return codec.mask_ids_and_tags(data)
    shape = (found[0].shape[0], found[0].shape[1] // 3)
    ids, tags = np.empty(shape, np.uint16), np.empty(shape, np.uint8)
    _rows_to_ids(found[0], ids, tags)
    return ids, tags


def encode(ids: UInt16Array, tags: UInt8Array, *, level: int = 1) -> bytes:
    """Encode (H, W) ids and tags to the bytes that ``codec.encode_mask_ids`` gives, in half the time."""
    rows = np.empty((ids.shape[0], 1 + 3 * ids.shape[1]), np.uint8)
    _ids_to_rows(ids, tags, FILTER_TYPE["up"], rows)
    return encode_filtered(rows, bytes_per_pixel=3, level=level)


def split(bgra: UInt8Array) -> tuple[UInt16Array, UInt8Array]:
    """Split CARLA's instance encoding: (H, W, 3 or 4) blue first -> (H, W) ids and tags."""
    ids, tags = np.empty(bgra.shape[:2], np.uint16), np.empty(bgra.shape[:2], np.uint8)
    if bgra.shape[2] == 4 and bgra.strides[1:] == (4, 1) and sys.byteorder == "little":
        _split_words(bgra.view(np.uint32)[..., 0], ids, tags)
    else:
        _split(bgra, ids, tags)
    return ids, tags


def translated(
    ids: UInt16Array, tags: UInt8Array, table: UInt16Array, counted: BoolArray, *, into: UInt16Array | None = None
) -> UInt16Array:
    """Look ids up in a table, where the tag of their pixel counts; 0 elsewhere.

    Args:
        ids: (H, W).
        tags: (H, W).
        table: (65536,).
        counted: (256,) tags of the pixels that count.
        into: takes the answer; may be ``ids``.
    """
    found = np.empty(ids.shape, np.uint16) if into is None else into
    words, tag_words = _words(ids), _words(tags)
    if words.size and tag_words.size:
        _translate_words(words, tag_words, table, counted, _bounds(counted), found.view(np.uint64))
    else:
        _translate(ids, tags, table, counted, found)
    return found


def moments(ids: UInt16Array, tags: UInt8Array, counted: BoolArray) -> tuple[IntArray, IntArray]:
    """Sum over the pixels of every id.

    Args:
        ids: (H, W).
        tags: (H, W).
        counted: (256,) tags of the pixels that count.

    Returns:
        (N,) ids that are there, ascending, and (N, 10) of their pixels: how many, sums of column, line, column squared, line
        squared and tag, first column, first line, one past the last column, one past the last line.
    """
    found, sums = _moments(ids, tags, _words(tags), _words(ids), counted, _bounds(counted))
    order = np.argsort(found)
    return found[order], sums[order]


def extents_by_row(ids: UInt16Array, row_of_id: Int32Array, rows: int) -> IntArray:
    """Measure the pixels of every id that has a row.

    Args:
        ids: (H, W).
        row_of_id: (65536,) below ``rows``; -1 where an id has none.
        rows: of the answer.

    Returns:
        (rows, 5) how many, first column, first line, one past the last column, one past the last line; 0 where none is.
    """
    return _extents(ids, _words(ids), row_of_id, rows)


def runs_without_row(ids: UInt16Array, tags: UInt8Array, row_of_id: Int32Array, counted: BoolArray) -> IntArray:
    """Find the pixels whose tag counts and whose id has no row.

    Args:
        ids: (H, W).
        tags: (H, W).
        row_of_id: (65536,), -1 where an id has none.
        counted: (256,) tags of the pixels that count.

    Returns:
        (R, 4) runs: line, first column, one past the last column, tag.
    """
    runs: IntArray = _runs_without_row(ids, tags, _words(tags), _words(ids), row_of_id, counted, _bounds(counted))
    return runs


@kernel
def _rows_to_ids(rows: UInt8Array, ids: UInt16Array, tags: UInt8Array) -> None:
    """Take back the filter ``up`` on the way: each byte is the difference from the one above."""
    above = np.zeros(rows.shape[1], np.uint8)
    for line in range(ids.shape[0]):
        row, ids_out, tags_out = rows[line], ids[line], tags[line]
        for column in range(ids_out.shape[0]):
            at = 1 + 3 * column
            tag = (above[at] + row[at]) & 255
            low, high = (above[at + 1] + row[at + 1]) & 255, (above[at + 2] + row[at + 2]) & 255
            above[at], above[at + 1], above[at + 2] = tag, low, high
            tags_out[column] = tag
            ids_out[column] = low | (high << 8)


@kernel
def _ids_to_rows(ids: UInt16Array, tags: UInt8Array, kind: int, rows: UInt8Array) -> None:
    """Write a mask's rows as a PNG has them, each byte less the one above it, behind the filter's number."""
    for line in range(ids.shape[0]):
        row, own, above = rows[line], ids[line], ids[line - 1]
        tag, tag_above = tags[line], tags[line - 1]
        row[0] = kind
        if line == 0:
            for column in range(own.shape[0]):
                row[3 * column + 1], row[3 * column + 2] = tag[column], np.uint8(own[column])
                row[3 * column + 3] = np.uint8(own[column] >> np.uint16(8))
            continue
        for column in range(own.shape[0]):
            at = np.uint64(3) * np.uint64(column) + np.uint64(1)
            row[at] = np.uint8(tag[column] - tag_above[column])
            row[at + np.uint64(1)] = np.uint8(own[column]) - np.uint8(above[column])
            high, high_above = np.uint8(own[column] >> np.uint16(8)), np.uint8(above[column] >> np.uint16(8))
            row[at + np.uint64(2)] = high - high_above


@kernel
def _split_words(words: UInt32Array, ids: UInt16Array, tags: UInt8Array) -> None:
    """Split pixels as numbers of 32 bit, of which blue is the lowest byte: many at once."""
    for line in range(words.shape[0]):
        row, ids_out, tags_out = words[line], ids[line], tags[line]
        for column in range(row.shape[0]):
            word = row[column]
            high, low = word & np.uint32(255), (word >> np.uint32(8)) & np.uint32(255)
            ids_out[column] = np.uint16((high << np.uint32(8)) | low)
            tags_out[column] = np.uint8(word >> np.uint32(16))


@kernel
def _split(bgra: UInt8Array, ids: UInt16Array, tags: UInt8Array) -> None:
    for line in range(bgra.shape[0]):
        for column in range(bgra.shape[1]):
            ids[line, column] = (np.uint16(bgra[line, column, 0]) << 8) | bgra[line, column, 1]
            tags[line, column] = bgra[line, column, 2]


@kernel
def _translate(ids: UInt16Array, tags: UInt8Array, table: UInt16Array, counted: BoolArray, found: UInt16Array) -> None:
    for line in range(ids.shape[0]):
        for column in range(ids.shape[1]):
            found[line, column] = table[ids[line, column]] if counted[tags[line, column]] else 0


def _words(pixels: UInt16Array | UInt8Array) -> UInt64Array:
    """See (H, W) pixels as numbers of 64 bits, four ids or eight tags in each; as none where they do not fit."""
    fits = pixels.shape[1] * pixels.itemsize % 8 == 0 and pixels.flags.c_contiguous
    return pixels.view(np.uint64) if fits else np.empty((pixels.shape[0], 0), np.uint64)


def _bounds(counted: BoolArray) -> UInt64Array:
    """Return what ``_may_count`` adds to eight tags: the high bit of each comes up from the least and beyond the greatest."""
    which = np.flatnonzero(counted).tolist() or [0]
    least, greatest = (which[0], which[-1]) if which[-1] <= 127 else (0, 127)
    return np.array([128 - least, 127 - greatest], np.uint64) * _EIGHT_TAGS


@kernel
def _may_count(words: Any, begin: int, end: int, bounds: UInt64Array) -> bool:
    """Return whether one of the eight tags of these words lies between the least and the greatest that count."""
    within = np.uint64(0)
    for at in range(np.uint64(begin), np.uint64(end)):
        low = words[at] & _LOW_BITS
        within |= (low + bounds[0]) & ~(low + bounds[1])
    return bool(within & ~_LOW_BITS)


@kernel
def _translate_words(  # noqa: PLR0917 (kernels take their arrays by place)
    words: UInt64Array,
    tags: UInt64Array,
    table: UInt16Array,
    counted: BoolArray,
    bounds: UInt64Array,
    found: UInt64Array,
) -> None:
    """Look four pixels up at once where they are the four before them; where no tag counts, none is looked up."""
    last, last_tags, meaning, is_first = np.uint64(0), np.uint64(0), np.uint64(0), True
    for line in range(words.shape[0]):
        for begin in range(0, tags.shape[1], _BLOCK):
            end = min(begin + _BLOCK, tags.shape[1])
            if not _may_count(tags[line], begin, end, bounds):
                found[line, 2 * begin : 2 * end] = 0
                continue
            for at in range(2 * begin, 2 * end):
                word, tag = words[line, at], (tags[line, at // 2] >> np.uint64(32 * (at % 2))) & _FOUR_TAGS
                if word != last or tag != last_tags or is_first:
                    last, last_tags, meaning, is_first = word, tag, np.uint64(0), False
                    for place in range(4):
                        shift = np.uint64(16 * place)
                        if counted[(tag >> np.uint64(8 * place)) & np.uint64(255)]:
                            meaning |= np.uint64(table[(word >> shift) & np.uint64(65535)]) << shift
                found[line, at] = meaning


@kernel
def _end_of_run(row: Any, words: Any, column: int, each: int, ones: Any) -> Any:
    """Return one past the last pixel of a row that goes on with what is at ``column``.

    Args:
        row: pixels.
        words: the same, ``each`` pixels in a number, or none.
        column: where the run begins, or is known to go on.
        each: pixels in a number.
        ones: a number of pixels that are all 1.
    """
    value, end = row[column], column + 1
    while end < len(row) and end % each:
        if row[end] != value:
            return end
        end += 1
    if end % each == 0:
        same, word = np.uint64(value) * ones, end // each
        while word + _BLOCK <= len(words):
            others = np.uint64(0)
            for place in range(_BLOCK):
                others |= words[np.uint64(word + place)] ^ same
            if others:
                break
            word += _BLOCK
        while word < len(words) and words[word] == same:
            word += 1
        end = each * word
    while end < len(row) and row[end] == value:
        end += 1
    return end


@kernel
def _row_of(number: Any, place: Any, found: Any, count: int) -> Any:
    """Return the row of an id, and how many ids were met by then; a new one is noted."""
    if place[number] >= 0:
        return np.int64(place[number]), count
    place[number], found[count] = count, number
    return count, count + 1


@kernel
def _next_counted(row: Any, words: Any, column: int, counted: BoolArray, bounds: UInt64Array) -> int:
    """Return the first column from here on whose tag counts, or the row's end; words without any are passed over."""
    while column < len(row):
        if column % 8 == 0:
            word = column // 8
            while word + _BLOCK <= len(words) and not _may_count(words, word, word + _BLOCK, bounds):
                word += _BLOCK
            while word < len(words) and not _may_count(words, word, word + 1, bounds):
                word += 1
            column = 8 * word
            if column >= len(row):
                break
        if counted[row[column]]:
            break
        column += 1
    return column


@kernel
def _doubled(rows: Any) -> Any:
    """Return rows with as many zeros behind; numba compiles its own ``concatenate`` for seconds."""
    more = np.zeros((2 * rows.shape[0], rows.shape[1]), np.int64)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            more[row, column] = rows[row, column]
    return more


@kernel
def _moments(  # noqa: PLR0917 (kernels take their arrays by place)
    ids: UInt16Array, tags: UInt8Array, words: Any, id_words: Any, counted: BoolArray, bounds: UInt64Array
) -> Any:
    place = np.empty(65536, np.int32)
    for number in range(len(place)):
        place[number] = -1
    found, sums, count = np.empty(65536, np.int64), np.zeros((256, 10), np.int64), _FIRST
    for line in range(ids.shape[0]):
        start = _next_counted(tags[line], words[line], _FIRST, counted, bounds)
        while start < ids.shape[1]:  # what has one tag and one id
            tag = tags[line, start]
            stop = _end_of_run(tags[line], words[line], start, _EIGHT, _EIGHT_TAGS)
            stop = min(_end_of_run(ids[line], id_words[line], start, _FOUR, _FOUR_IDS), stop)
            row, count = _row_of(ids[line, start], place, found, count)
            if count > len(sums):
                sums = _doubled(sums)
            pixels, last = stop - start, stop - 1
            if sums[row, 0] == 0:
                sums[row, 6], sums[row, 7] = start, line
            sums[row, 6], sums[row, 8] = min(sums[row, 6], start), max(sums[row, 8], stop)
            sums[row, 9] = line + 1
            sums[row, 0] += pixels
            sums[row, 1] += (start + last) * pixels // 2
            sums[row, 2] += line * pixels
            sums[row, 3] += (last * stop * (last + stop) - (start - 1) * start * (2 * start - 1)) // 6
            sums[row, 4] += line * line * pixels
            sums[row, 5] += tag * pixels
            start = _next_counted(tags[line], words[line], stop, counted, bounds)
    return found[:count].copy(), sums[:count].copy()


@kernel
def _runs_without_row(  # noqa: PLR0917 (kernels take their arrays by place)
    ids: UInt16Array,
    tags: UInt8Array,
    words: Any,
    id_words: Any,
    row_of_id: Int32Array,
    counted: BoolArray,
    bounds: UInt64Array,
) -> Any:
    runs, count = np.zeros((256, 4), np.int64), _FIRST
    for line in range(ids.shape[0]):
        start = _next_counted(tags[line], words[line], _FIRST, counted, bounds)
        while start < ids.shape[1]:  # what has one tag and one id
            stop = _end_of_run(tags[line], words[line], start, _EIGHT, _EIGHT_TAGS)
            stop = min(_end_of_run(ids[line], id_words[line], start, _FOUR, _FOUR_IDS), stop)
            if row_of_id[ids[line, start]] < 0:
                if count == len(runs):
                    runs = _doubled(runs)
                runs[count, 0], runs[count, 1], runs[count, 2] = line, start, stop
                runs[count, 3] = tags[line, start]
                count += 1
            start = _next_counted(tags[line], words[line], stop, counted, bounds)
    return runs[:count].copy()


@kernel
def _extents(ids: UInt16Array, words: UInt64Array, row_of_id: Int32Array, rows: int) -> IntArray:
    measured = np.zeros((rows, 5), np.int64)
    for line in range(ids.shape[0]):
        end = _FIRST
        while end < ids.shape[1]:
            begin, row = end, row_of_id[ids[line, end]]
            end = _end_of_run(ids[line], words[line], begin, _FOUR, _FOUR_IDS)
            if row < 0:
                continue
            if measured[row, 0] == 0:
                measured[row, 1], measured[row, 2] = begin, line
            measured[row, 0] += end - begin
            measured[row, 1] = min(measured[row, 1], begin)
            measured[row, 3] = max(measured[row, 3], end)
            measured[row, 4] = line + 1
    return measured
