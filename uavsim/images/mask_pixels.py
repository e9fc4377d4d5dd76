"""Counts of instance masks: one pass finds the runs of equal pixels that may count, and all is counted in these."""

from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from uavsim.images import codec
from uavsim.images.codec import ImageSource
from uavsim.images.compiled import kernel
from uavsim.images.png import FILTER_TYPE, encode_filtered, scratch_rows
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

__all__ = [
    "Int32Array",
    "Runs",
    "decode",
    "encode",
    "extents_by_row",
    "filled",
    "moments",
    "runs_in",
    "split",
    "without_nearer",
]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Float32Array: TypeAlias = npt.NDArray[np.float32]
UInt32Array: TypeAlias = npt.NDArray[np.uint32]
UInt64Array: TypeAlias = npt.NDArray[np.uint64]
Runs: TypeAlias = IntArray
"""(R, 5) pixels of a line with one id and one tag: line, first column, one past the last column, id, tag; in order."""

_ID_AND_TAG: Final = np.uint32(0xFFFFFF)
_EACH_BYTE: Final = np.uint64(0x0101010101010101)
_TOGETHER: Final = 32  # pixels of a line that are passed over at once where none may count
_FIRST: Final = cast("int", np.int64(0))  # no literals, for each of which numba would compile a function of its own


def decode(source: ImageSource) -> tuple[UInt16Array, UInt8Array]:
    """Decode a mask file: (H, W) ids and tags, as ``codec.mask_ids_and_tags`` does; of our own files in half the time.

    Raises:
        DatasetError: not a readable three-channel 8-bit image.
    """
    found = codec.filtered_rows(source)
    if found is None or found[1] != 3 or not (found[0][:, 0] == FILTER_TYPE["up"]).all():
        return codec.mask_ids_and_tags(source)
    shape = (found[0].shape[0], found[0].shape[1] // 3)
    ids, tags = np.empty(shape, np.uint16), np.empty(shape, np.uint8)
    _rows_to_ids(found[0], ids, tags)
    return ids, tags


def encode(ids: UInt16Array, tags: UInt8Array, *, level: int = 1) -> bytes:
    """Encode (H, W) ids and tags to the bytes that ``codec.encode_mask_ids`` gives, in half the time."""
    rows = scratch_rows(ids.shape[0], 1 + 3 * ids.shape[1])
    _ids_to_rows(ids, tags, FILTER_TYPE["up"], rows)
    return encode_filtered(rows, bytes_per_pixel=3, level=level)


def split(bgra: UInt8Array, counted: BoolArray) -> tuple[Runs, UInt8Array]:
    """Split CARLA's instance encoding: (H, W, 3 or 4) blue first -> runs of the pixels that count, and (H, W) tags.

    Args:
        bgra: pixels; red is the tag, and 256 blue + green the id.
        counted: (256,) tags of the pixels that count.
    """
    if bgra.shape[2] == 3 or bgra.strides[1:] != (4, 1):
        bgra = np.concatenate([bgra[..., :3], bgra[..., :1]], axis=2)
    pixels = bgra.view(np.uint32)[..., 0]
    tags = np.empty(pixels.shape, np.uint8)
    which = np.flatnonzero(counted) if counted.any() else np.zeros(1, np.int64)
    return _split(pixels, tags, counted, np.uint8(which[0]), np.uint8(which[-1] - which[0])), tags


def runs_in(ids: UInt16Array, tags: UInt8Array, counted: BoolArray) -> Runs:
    """Find the runs of the pixels that count, by their tags (256,), in (H, W) ids and tags."""
    pixels = ids.byteswap() | tags.astype(np.uint32) << 16
    return split(pixels.view(np.uint8).reshape(*ids.shape, 4), counted)[0]


def filled(runs: Runs, shape: tuple[int, ...]) -> UInt16Array:
    """Return the (H, W) ids of runs; 0 where none is."""
    ids = np.zeros(shape, np.uint16)
    _fill(runs, ids)
    return ids


def without_nearer(runs: Runs, tags: UInt8Array, depth_m: Float32Array, least_m: FloatArray) -> tuple[Runs, UInt8Array]:
    """Take away the pixels that show something nearer than their object can be.

    Args:
        runs: of a mask.
        tags: (H, W) of the mask.
        depth_m: (H, W) along the optical axis.
        least_m: (65536,) what an id's pixels have at least; -inf of an id of which nothing is known.

    Returns:
        The runs of the other pixels, and the tags with 0 (unlabelled) at those that were taken away; what was given, if none.
    """
    if not _nearer(runs, depth_m, least_m):
        return runs, tags
    tags = tags.copy()
    return _cut(runs, tags, depth_m, least_m), tags


def moments(runs: Runs) -> tuple[IntArray, IntArray]:
    """Sum over the pixels of every id.

    Returns:
        (N,) ids that are there, ascending, and (N, 10) of their pixels: how many, sums of column, line, column squared, line
        squared and tag, first column, first line, one past the last column, one past the last line.
    """
    found, row = np.unique(runs[:, 3], return_inverse=True)
    return found, _summed(runs, row, len(found))


def extents_by_row(runs: Runs, row_of_id: Int32Array, rows: int) -> IntArray:
    """Measure the pixels of every id that has a row.

    Args:
        runs: of a mask.
        row_of_id: (65536,) below ``rows``; -1 where an id has none.
        rows: of the answer.

    Returns:
        (rows, 5) how many, first column, first line, one past the last column, one past the last line; 0 where none is.
    """
    return _summed(runs, row_of_id[runs[:, 3]].astype(np.int64), rows)[:, [0, 6, 7, 8, 9]]


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
def _doubled(rows: Any) -> Any:
    """Return rows with as many zeros behind; numba compiles its own ``concatenate`` for seconds."""
    more = np.zeros((2 * rows.shape[0], rows.shape[1]), np.int64)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            more[row, column] = rows[row, column]
    return more


@kernel
def _split(pixels: UInt32Array, tags: UInt8Array, counted: BoolArray, least: Any, span: Any) -> Runs:
    """Take the tags out of pixels as numbers of 32 bit, of which blue is the lowest byte, and return the runs.

    Pixels whose tag is not beyond ``span`` of the ``least`` may count. Each leaves a mark, and marks are read by eight.
    """
    runs, count = np.zeros((1024, 5), np.int64), _FIRST
    marks = np.zeros(tags.shape[1] + _TOGETHER, np.uint8)
    eights = marks[: len(marks) // _TOGETHER * _TOGETHER].view(np.uint64)
    for line in range(tags.shape[0]):
        row, tags_of, start = pixels[line], tags[line], _FIRST
        for column in range(row.shape[0]):
            tags_of[column] = np.uint8(row[column] >> np.uint32(16))
            marks[column] = np.uint8(np.uint8(row[column] >> np.uint32(16)) - least) <= span
        for begin in range(_FIRST, len(row), _TOGETHER):
            at = np.uint64(begin) >> np.uint64(3)
            if not eights[at] | eights[at + np.uint64(1)] | eights[at + np.uint64(2)] | eights[at + np.uint64(3)]:
                continue
            end = min(begin + _TOGETHER, len(row))
            start = max(start, begin)
            while start < end:
                ahead = eights[start >> 3] >> np.uint64(8 * (start & 7))
                if not ahead:
                    start = (start | 7) + 1
                    continue
                start += ((ahead & -ahead) - np.uint64(1) & _EACH_BYTE) * _EACH_BYTE >> np.uint64(56)
                if not counted[tags_of[start]]:
                    start += 1
                    continue
                pixel, stop = row[start] & _ID_AND_TAG, start + 1
                while stop < len(row) and row[stop] & _ID_AND_TAG == pixel:
                    stop += 1
                if count == len(runs):
                    runs = _doubled(runs)
                runs[count, 0], runs[count, 1], runs[count, 2] = line, start, stop
                runs[count, 3] = (pixel & np.uint32(255)) << np.uint32(8) | (pixel >> np.uint32(8)) & np.uint32(255)
                runs[count, 4] = tags_of[start]
                count, start = count + 1, stop
    return runs[:count].copy()


@kernel
def _nearer(runs: Runs, depth_m: Float32Array, least_m: FloatArray) -> int:
    count = 0
    for run in range(len(runs)):
        line, least = depth_m[runs[run, 0]], least_m[runs[run, 3]]
        for column in range(runs[run, 1], runs[run, 2]):
            count += line[column] < least
    return count


@kernel
def _cut(runs: Runs, tags: UInt8Array, depth_m: Float32Array, least_m: FloatArray) -> Runs:
    """Return what is left of runs, and set the tags of the rest to 0."""
    out, count = np.zeros((1024, 5), np.int64), _FIRST
    for run in range(len(runs)):
        line, stop, least = runs[run, 0], runs[run, 2], least_m[runs[run, 3]]
        begin = runs[run, 1]
        for column in range(runs[run, 1], stop + 1):
            if column < stop and not depth_m[line, column] < least:
                continue
            if column > begin:
                if count == len(out):
                    out = _doubled(out)
                for field in range(5):
                    out[count, field] = runs[run, field]
                out[count, 1], out[count, 2] = begin, column
                count += 1
            if column < stop:
                tags[line, column] = 0
            begin = column + 1
    return out[:count].copy()


@kernel
def _fill(runs: Runs, ids: UInt16Array) -> None:
    for run in range(len(runs)):
        line, number = ids[runs[run, 0]], np.uint16(runs[run, 3])
        for column in range(runs[run, 1], runs[run, 2]):
            line[column] = number


@kernel
def _summed(runs: Runs, rows: IntArray, count: int) -> IntArray:
    """Sum the pixels of each row's runs, see ``moments``; of those that have none, -1, nothing."""
    sums = np.zeros((count, 10), np.int64)
    for run in range(len(runs)):
        row, line, start, stop, tag = rows[run], runs[run, 0], runs[run, 1], runs[run, 2], runs[run, 4]
        if row < 0:
            continue
        own, pixels, last = sums[row], stop - start, stop - 1
        if own[0] == 0:
            own[6], own[7] = start, line
        own[6], own[8], own[9] = min(own[6], start), max(own[8], stop), line + 1
        own[0] += pixels
        own[1] += (start + last) * pixels // 2
        own[2] += line * pixels
        own[3] += (last * stop * (last + stop) - (start - 1) * start * (2 * start - 1)) // 6
        own[4] += line * line * pixels
        own[5] += tag * pixels
    return sums
