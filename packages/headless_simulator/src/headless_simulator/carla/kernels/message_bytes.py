"""Kernels that parse batches of vehicle controls and encode long lists of integers.

msgpack: https://github.com/msgpack/msgpack/blob/master/spec.md; numbers use the shortest encoding.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from headless_simulator.jit import Number, int64, kernel
from headless_simulator.scene import Float64, UInt8, UInt32

ELSE: Final = -1
"""End position of a value of an unexpected type or with incomplete bytes."""
LONGEST_NUMBER: Final = 5
LONGEST_ARRAY_HEAD: Final = 5


_FIRST, _SINGLE, _DOUBLE = int64(2), int64(4), int64(8)  # no literals, for each of which numba would compile a function
_FALSE: Final = 0xC2
_TRUE: Final = 0xC3
_COMMAND_HEAD: Final = 0x91920292  # [[2, [actor, control]]] up to the actor
_fast = kernel(error_model="python")


@_fast
def _bits(data: UInt8, offset: int, width: int) -> int:
    """Read ``width`` bytes, big-endian."""
    value = 0
    for k in range(width):
        value = (value << 8) | int64(data[offset + k])
    return value


@_fast
def _unsigned(data: UInt8, offset: int, end: int) -> tuple[int, int]:
    """Read an unsigned number of up to 32 bits; returns the number and its end."""
    if 0 <= offset < end:
        kind = int64(data[offset])
        if kind < 0x80:
            return kind, offset + 1
        width = 1 << (kind - 0xCC) if 0xCC <= kind <= 0xCE else 0
        if width and offset + width < end:
            return _bits(data, offset + 1, width), offset + 1 + width
    return 0, ELSE


@_fast
def _integer(data: UInt8, offset: int, end: int) -> tuple[int, int]:
    """Read a number of up to 32 bits."""
    if 0 <= offset < end:
        kind = int64(data[offset])
        if kind >= 0xE0:
            return kind - 0x100, offset + 1
        width = 1 << (kind - 0xD0) if 0xD0 <= kind <= 0xD2 else 0
        if width and offset + width < end:
            value, top = _bits(data, offset + 1, width), 1 << (8 * width - 1)
            return value - 2 * top if value >= top else value, offset + 1 + width
    return _unsigned(data, offset, end)


@_fast
def _single(bits: Number) -> Number:
    return np.uint32(bits).view(np.float32)


@_fast
def _double(bits: Number) -> Number:
    return np.uint64(bits).view(np.float64)


@_fast
def _real(data: UInt8, offset: int, end: int) -> tuple[float, int]:
    """Read a floating-point number of either length."""
    if 0 <= offset < end:
        if data[offset] == 0xCA and offset + 4 < end:
            return np.float64(_single(_bits(data, offset + 1, _SINGLE))), offset + 5
        if data[offset] == 0xCB and offset + 8 < end:
            return np.float64(_double(_bits(data, offset + 1, _DOUBLE))), offset + 9
    return 0.0, ELSE


@_fast
def _array_head(data: UInt8, offset: int, end: int) -> tuple[int, int]:
    """Read the length of an array."""
    if 0 <= offset < end:
        kind = int64(data[offset])
        if kind & 0xF0 == 0x90:
            return kind & 0x0F, offset + 1
        width = 2 if kind == 0xDC else 4 if kind == 0xDD else 0
        if width and offset + width < end:
            return _bits(data, offset + 1, width), offset + 1 + width
    return 0, ELSE


@_fast
def _is_flag(data: UInt8, offset: int, end: int) -> bool:
    return 0 <= offset < end and (data[offset] == _FALSE or data[offset] == _TRUE)


@_fast
def _control(data: UInt8, offset: int, end: int, control: Float64) -> int:
    """Read [throttle, steer, brake, hand_brake, reverse, manual, gear] with finite numbers; returns its end."""
    if not (0 <= offset < end and data[offset] == 0x97):
        return ELSE
    offset += 1
    for k in range(3):
        control[k], offset = _real(data, offset, end)
    if offset == ELSE or not math.isfinite(control[0] + control[1] + control[2]):
        return ELSE
    for k in range(3, 6):
        if not _is_flag(data, offset, end):
            return ELSE
        control[k] = 1.0 if data[offset] == _TRUE else 0.0
        offset += 1
    control[6], offset = _integer(data, offset, end)
    return offset


@_fast
def read_controls(data: UInt8, method_start: int, method_end: int, ids: UInt32, controls: Float64) -> tuple[int, ...]:
    """Read ``[0, id, method, [[flag], [[[2, [actor, control]]], ...], flag]]``; the last flag may be absent.

    Args:
        data: (B,) uint8, starts with the message.
        method_start: start of the method's name.
        method_end: end of the method's name.
        ids: (N,) output, actor ids of up to N commands.
        controls: (N, 7) output, their controls.

    Returns:
        End of the message, or ``ELSE`` if it is another or an incomplete message; its id; the first flag; the number of
        commands; start and end of their array; the last flag, or ``ELSE`` if absent.
    """
    end, other = len(data), (ELSE, 0, 0, 0, 0, 0, ELSE)
    message_id, offset = _unsigned(data, _FIRST, end)
    if data[0] != 0x94 or data[1] != 0 or offset != method_start:
        return other
    arguments, offset = _array_head(data, method_end, end)
    if not 2 <= arguments <= 3 or not _is_flag(data, offset + 1, end) or data[offset] != 0x91:
        return other
    asynchronous, first = int64(data[offset + 1]) - _FALSE, offset + 2
    count, offset = _array_head(data, first, end)
    if offset == ELSE or count > len(ids):
        return other
    for n in range(count):
        if not (offset + 4 < end and _bits(data, offset, _SINGLE) == _COMMAND_HEAD):
            return other
        actor_id, offset = _unsigned(data, offset + 4, end)
        ids[n] = actor_id
        offset = _control(data, offset, end, controls[n])
        if offset == ELSE:
            return other
    last, ticks = offset, ELSE
    if arguments == 3:
        if not _is_flag(data, offset, end):
            return other
        ticks = int64(data[offset]) - _FALSE
        offset += 1
    return offset, message_id, asynchronous, count, first, last, ticks


@_fast
def find_rows(ids: UInt32, known: Number, actor_id: UInt32, rows: Number) -> bool:
    """Find actors in the table; returns whether all of them exist.

    Args:
        ids: (N,) actor ids; fastest in ascending order.
        known: (A,) rows of all actors, sorted by actor id.
        actor_id: the table's column of actor ids.
        rows: (N,) output, rows of ``ids``.
    """
    index, count = 0, len(known)
    for n in range(len(ids)):
        target_id = ids[n]
        if not (index < count and actor_id[known[index]] == target_id):  # not the successor of the last match either
            low, high = 0, count
            while low < high:
                index = (low + high) // 2
                if actor_id[known[index]] < target_id:
                    low = index + 1
                else:
                    high = index
            index = low
            if index == count or actor_id[known[index]] != target_id:
                return False
        rows[n] = known[index]
        index += 1
    return True


@_fast
def take_over_controls(
    rows: Number, controls: Float64, control: Float64, flags: tuple[UInt8, UInt8, UInt8, UInt8], gear: Number
) -> None:
    """Write (N, 7) controls into the table's columns in order; the flags are hand brake, reverse, manual, control set."""
    hand_brake, reverse, manual, control_set = flags
    for n in range(len(rows)):
        row = rows[n]
        for k in range(3):
            control[row, k] = controls[n, k]
        hand_brake[row] = controls[n, 3] != 0
        reverse[row] = controls[n, 4] != 0
        manual[row] = controls[n, 5] != 0
        control_set[row] = 1
        if manual[row]:
            gear[row] = int64(min(max(controls[n, 6], -1.0), 10.0))


@_fast
def _put(value: int, out: UInt8, offset: int) -> int:
    """Write a number of up to 32 bits; returns its end."""
    if value < 0x80:
        out[offset] = value
        return offset + 1
    width = 1 if value < 1 << 8 else 2 if value < 1 << 16 else 4
    out[offset] = 0xCC if width == 1 else 0xCD if width == 2 else 0xCE
    for k in range(width):
        out[offset + 1 + k] = (value >> (8 * (width - 1 - k))) & 0xFF
    return offset + 1 + width


@_fast
def _put_array_head(count: int, out: UInt8, offset: int) -> int:
    if count < 16:
        out[offset] = 0x90 | count
        return offset + 1
    width = 2 if count < 1 << 16 else 4
    out[offset] = 0xDC if width == 2 else 0xDD
    for k in range(width):
        out[offset + 1 + k] = (count >> (8 * (width - 1 - k))) & 0xFF
    return offset + 1 + width


@_fast
def put_answers(ids: UInt32, out: UInt8) -> int:
    """Write ``[[[1, id]], ...]``, the answers to successful commands for (N,) ids; returns the number of bytes."""
    offset = _put_array_head(len(ids), out, 0)
    for n in range(len(ids)):
        out[offset], out[offset + 1], out[offset + 2] = 0x91, 0x92, 1
        offset = _put(int64(ids[n]), out, offset + 3)
    return offset


@_fast
def put_pairs(ids: UInt32, values: UInt32, out: UInt8) -> int:
    """Write ``[[id, value], ...]`` for (N,) ids and values; returns the number of bytes."""
    offset = _put_array_head(len(ids), out, 0)
    for n in range(len(ids)):
        out[offset] = 0x92
        offset = _put(int64(ids[n]), out, offset + 1)
        offset = _put(int64(values[n]), out, offset)
    return offset
