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
_fast = kernel(error_model="python")


@_fast
def _bits(data: UInt8, at: int, width: int) -> int:
    """Read ``width`` bytes, big-endian."""
    value = 0
    for k in range(width):
        value = (value << 8) | int64(data[at + k])
    return value


@_fast
def _unsigned(data: UInt8, at: int, end: int) -> tuple[int, int]:
    """Read an unsigned number of up to 32 bits; returns the number and its end."""
    if 0 <= at < end:
        kind = int64(data[at])
        if kind < 0x80:
            return kind, at + 1
        width = 1 << (kind - 0xCC) if 0xCC <= kind <= 0xCE else 0
        if width and at + width < end:
            return _bits(data, at + 1, width), at + 1 + width
    return 0, ELSE


@_fast
def _integer(data: UInt8, at: int, end: int) -> tuple[int, int]:
    """Read a number of up to 32 bits."""
    if 0 <= at < end:
        kind = int64(data[at])
        if kind >= 0xE0:
            return kind - 0x100, at + 1
        width = 1 << (kind - 0xD0) if 0xD0 <= kind <= 0xD2 else 0
        if width and at + width < end:
            value, top = _bits(data, at + 1, width), 1 << (8 * width - 1)
            return value - 2 * top if value >= top else value, at + 1 + width
    return _unsigned(data, at, end)


@_fast
def _single(bits: Number) -> Number:
    return np.uint32(bits).view(np.float32)


@_fast
def _double(bits: Number) -> Number:
    return np.uint64(bits).view(np.float64)


@_fast
def _real(data: UInt8, at: int, end: int) -> tuple[float, int]:
    """Read a floating-point number of either length."""
    if 0 <= at < end:
        if data[at] == 0xCA and at + 4 < end:
            return np.float64(_single(_bits(data, at + 1, _SINGLE))), at + 5
        if data[at] == 0xCB and at + 8 < end:
            return np.float64(_double(_bits(data, at + 1, _DOUBLE))), at + 9
    return 0.0, ELSE


@_fast
def _array_head(data: UInt8, at: int, end: int) -> tuple[int, int]:
    """Read the length of an array."""
    if 0 <= at < end:
        kind = int64(data[at])
        if kind & 0xF0 == 0x90:
            return kind & 0x0F, at + 1
        width = 2 if kind == 0xDC else 4 if kind == 0xDD else 0
        if width and at + width < end:
            return _bits(data, at + 1, width), at + 1 + width
    return 0, ELSE


@_fast
def _is_flag(data: UInt8, at: int, end: int) -> bool:
    return 0 <= at < end and (data[at] == _FALSE or data[at] == _TRUE)


@_fast
def _control(data: UInt8, at: int, end: int, control: Float64) -> int:
    """Read [throttle, steer, brake, hand_brake, reverse, manual, gear] with finite numbers; returns its end."""
    if not (0 <= at < end and data[at] == 0x97):
        return ELSE
    at += 1
    for k in range(3):
        control[k], at = _real(data, at, end)
    if at == ELSE or not math.isfinite(control[0] + control[1] + control[2]):
        return ELSE
    for k in range(3, 6):
        if not _is_flag(data, at, end):
            return ELSE
        control[k] = 1.0 if data[at] == _TRUE else 0.0
        at += 1
    control[6], at = _integer(data, at, end)
    return at


@_fast
def read_controls(data: UInt8, method_at: int, method_end: int, ids: UInt32, controls: Float64) -> tuple[int, ...]:
    """Read ``[0, id, method, [[flag], [[[2, [actor, control]]], ...], flag]]``; the last flag may be absent.

    Args:
        data: (B,) uint8, starts with the message.
        method_at: start of the method's name.
        method_end: end of the method's name.
        ids: (N,) output, actor ids of up to N commands.
        controls: (N, 7) output, their controls.

    Returns:
        End of the message, or ``ELSE`` if it is another or an incomplete message; its id; the first flag; the number of
        commands; start and end of their array; the last flag, or ``ELSE`` if absent.
    """
    end, other = len(data), (ELSE, 0, 0, 0, 0, 0, ELSE)
    message_id, at = _unsigned(data, _FIRST, end)
    if data[0] != 0x94 or data[1] != 0 or at != method_at:
        return other
    arguments, at = _array_head(data, method_end, end)
    if not 2 <= arguments <= 3 or not _is_flag(data, at + 1, end) or data[at] != 0x91:
        return other
    asynchronous, first = int64(data[at + 1]) - _FALSE, at + 2
    count, at = _array_head(data, first, end)
    if at == ELSE or count > len(ids):
        return other
    for n in range(count):
        if not (
            at + 4 < end and data[at] == 0x91 and data[at + 1] == 0x92 and data[at + 2] == 2 and data[at + 3] == 0x92
        ):
            return other
        actor_id, at = _unsigned(data, at + 4, end)
        ids[n] = actor_id
        at = _control(data, at, end, controls[n])
        if at == ELSE:
            return other
    last, ticks = at, ELSE
    if arguments == 3:
        if not _is_flag(data, at, end):
            return other
        ticks = int64(data[at]) - _FALSE
        at += 1
    return at, message_id, asynchronous, count, first, last, ticks


@_fast
def find_rows(ids: UInt32, known: Number, actor_id: UInt32, rows: Number) -> bool:
    """Find actors in the table; returns whether all of them exist.

    Args:
        ids: (N,) actor ids; fastest in ascending order.
        known: (A,) rows of all actors, sorted by actor id.
        actor_id: the table's column of actor ids.
        rows: (N,) output, rows of ``ids``.
    """
    at, count = 0, len(known)
    for n in range(len(ids)):
        wanted = ids[n]
        if not (at < count and actor_id[known[at]] == wanted):  # not the successor of the last match either
            low, high = 0, count
            while low < high:
                at = (low + high) // 2
                if actor_id[known[at]] < wanted:
                    low = at + 1
                else:
                    high = at
            at = low
            if at == count or actor_id[known[at]] != wanted:
                return False
        rows[n] = known[at]
        at += 1
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
def _put(value: int, out: UInt8, at: int) -> int:
    """Write a number of up to 32 bits; returns its end."""
    if value < 0x80:
        out[at] = value
        return at + 1
    width = 1 if value < 1 << 8 else 2 if value < 1 << 16 else 4
    out[at] = 0xCC if width == 1 else 0xCD if width == 2 else 0xCE
    for k in range(width):
        out[at + 1 + k] = (value >> (8 * (width - 1 - k))) & 0xFF
    return at + 1 + width


@_fast
def _put_array_head(count: int, out: UInt8, at: int) -> int:
    if count < 16:
        out[at] = 0x90 | count
        return at + 1
    width = 2 if count < 1 << 16 else 4
    out[at] = 0xDC if width == 2 else 0xDD
    for k in range(width):
        out[at + 1 + k] = (count >> (8 * (width - 1 - k))) & 0xFF
    return at + 1 + width


@_fast
def put_answers(ids: UInt32, out: UInt8) -> int:
    """Write ``[[[1, id]], ...]``, the answers to successful commands for (N,) ids; returns the number of bytes."""
    at = _put_array_head(len(ids), out, 0)
    for n in range(len(ids)):
        out[at], out[at + 1], out[at + 2] = 0x91, 0x92, 1
        at = _put(int64(ids[n]), out, at + 3)
    return at


@_fast
def put_pairs(ids: UInt32, values: UInt32, out: UInt8) -> int:
    """Write ``[[id, value], ...]`` for (N,) ids and values; returns the number of bytes."""
    at = _put_array_head(len(ids), out, 0)
    for n in range(len(ids)):
        out[at] = 0x92
        at = _put(int64(ids[n]), out, at + 1)
        at = _put(int64(values[n]), out, at)
    return at
