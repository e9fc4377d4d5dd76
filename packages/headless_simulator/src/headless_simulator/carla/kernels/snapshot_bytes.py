"""Kernel that writes all actor states of a snapshot in the layout of ``wire``."""

from __future__ import annotations

from collections import namedtuple
from typing import Final

import numpy as np

from headless_simulator.carla import wire
from headless_simulator.jit import Number, int64, kernel
from headless_simulator.scene import UInt8, UInt32
from headless_simulator.world.signals import GREEN
from headless_simulator.world.table import VEHICLE, Rows


def _offset_of(name: str) -> int:
    """Return a field's offset as a NumPy integer, because numba would compile a function per literal."""
    return int64(wire.ACTOR_STATE.fields[name][1]) if wire.ACTOR_STATE.fields else 0


def _data_offset_of(name: str) -> int:
    return DATA + (int64(wire.VEHICLE_DATA.fields[name][1]) if wire.VEHICLE_DATA.fields else 0)


DATA: Final = _offset_of("data")
_ID: Final = _offset_of("id")
_STATE: Final = _offset_of("state")
_TRANSFORM: Final = _offset_of("transform")
_VELOCITY: Final = _offset_of("velocity")
_ANGULAR: Final = _offset_of("angular")
_ACCELERATION: Final = _offset_of("acceleration")
_CONTROL: Final = _data_offset_of("control")
_HAND_BRAKE: Final = _data_offset_of("hand_brake")
_REVERSE: Final = _data_offset_of("reverse")
_MANUAL: Final = _data_offset_of("manual")
_GEAR: Final = _data_offset_of("gear")
_LIMIT: Final = _data_offset_of("limit")
_LIGHT_STATE: Final = _data_offset_of("tl_state")
_HAS_LIGHT: Final = _data_offset_of("has_tl")
_LIGHT_ID: Final = _data_offset_of("tl_id")
_fast = kernel(error_model="python")


States = namedtuple(
    "States",
    "actor_id kind pose velocity angular acceleration control hand_brake reverse manual gear limit signal dormant",
)
"""Columns of the table that a snapshot contains."""


@_fast
def _bits(value: Number) -> Number:
    return np.float32(value).view(np.uint32)


@_fast
def _put_number(value: int, out: UInt8, offset: int) -> None:
    """Write 32 bits, little-endian."""
    for k in range(4):
        out[offset + k] = (value >> (8 * k)) & 0xFF


@_fast
def _put_single(value: float, out: UInt8, offset: int) -> None:
    _put_number(int64(_bits(value)), out, offset)


@_fast
def _put_vehicle(row: int, c: States, lights: tuple[UInt8, UInt32], out: UInt8) -> None:
    for k in range(3):
        _put_single(c.control[row, k], out, _CONTROL + 4 * k)
    out[_HAND_BRAKE], out[_REVERSE], out[_MANUAL] = c.hand_brake[row], c.reverse[row], c.manual[row]
    _put_number(int64(c.gear[row]), out, _GEAR)
    light, (states, ids) = c.signal[row], lights
    if c.dormant[row] != 0:
        light = -1
    else:
        _put_single(c.limit[row], out, _LIMIT)
    out[_LIGHT_STATE] = GREEN
    if light >= 0:
        out[_LIGHT_STATE], out[_HAS_LIGHT] = states[light], 1
        _put_number(int64(ids[light]), out, _LIGHT_ID)


@_fast
def put_states(rows: Rows, c: States, lights: tuple[UInt8, UInt32], out: UInt8) -> None:
    """Write the states of actors, with the additional fields of vehicles.

    Args:
        rows: (N,) rows of the table.
        c: the table's columns.
        lights: states and ids of the traffic lights.
        out: (N, ``wire.ACTOR_STATE``'s size) uint8 zeros, written.
    """
    for n in range(len(rows)):
        row, state = rows[n], out[n]
        _put_number(int64(c.actor_id[row]), state, _ID)
        state[_STATE] = 2 if c.dormant[row] != 0 else 1  # dormant, active
        for k in range(6):
            _put_single(c.pose[row, k], state, _TRANSFORM + 4 * k)
        for k in range(3):
            _put_single(c.velocity[row, k], state, _VELOCITY + 4 * k)
            _put_single(c.angular[row, k], state, _ANGULAR + 4 * k)
            _put_single(c.acceleration[row, k], state, _ACCELERATION + 4 * k)
        if c.kind[row] == VEHICLE:
            _put_vehicle(row, c, lights, state)
