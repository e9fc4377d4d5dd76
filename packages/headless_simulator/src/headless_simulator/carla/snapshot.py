"""The state of every actor at one tick, in the format of the world observer."""

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from headless_simulator.carla import wire
from headless_simulator.carla.kernels.snapshot_bytes import DATA, States, put_states
from headless_simulator.scene import Int32, UInt8
from headless_simulator.world.table import LIGHT, SIGN, WALKER, ActorTable, Rows, some_of
from headless_simulator.world.world import World

_FIELDS: Final[Mapping[str, Any]] = wire.LIGHT_DATA.fields or {}
_TIMES: Final = slice(_FIELDS["green"][1], _FIELDS["pole"][1])  # green, yellow, red, elapsed
_FROZEN: Final = _FIELDS["frozen"][1]
_STATE: Final = _FIELDS["state"][1]


def pack(world: World, *, flags: int, observer: int, spoiled: Sequence[int] = ()) -> bytes:
    """Pack the current world under the observer's index in the sensor registry; poses of ``spoiled`` actors are NaN."""
    with world.lock:
        header = wire.SENSOR_HEADER.pack(observer, world.frame, world.elapsed_s, *(0.0,) * 6)
        episode = wire.EPISODE_HEADER.pack(world.episode, time.time(), world.delta_s, *world.origin_m, flags)
        states = _states(world)
        if spoiled:
            fields = states.view(wire.ACTOR_STATE)[:, 0]
            fields["transform"][np.isin(fields["id"], spoiled)] = np.nan
        return b"".join((header, episode, states.data))


def compile_all() -> None:
    """Compile the kernel or read it from the cache, outside a client's deadline."""
    none = np.empty(0, np.uint32)
    put_states(
        np.empty(0, np.int64),
        some_of(ActorTable().c, States),
        (none.astype(np.uint8), none),
        np.empty((0, 0), np.uint8),
    )


def _states(world: World) -> UInt8:
    """Return (N, size of ``ACTOR_STATE``) uint8, one row per actor."""
    c, table = world.table.c, world.table
    rows = table.rows()
    out = np.zeros((len(rows), wire.ACTOR_STATE.itemsize), np.uint8)
    put_states(rows, some_of(c, States), (world.signal_state.state, world.light_ids), out)
    data = out[:, DATA:]
    walkers = table.rows(WALKER)
    if len(walkers):
        data[table.places(WALKER)] = _walkers(world, walkers)
    lights = table.places(LIGHT)
    if len(lights):
        data[lights] = _lights(world)
    signs = table.places(SIGN)
    if len(signs):
        data[signs] = _signs(world.sign_ids)
    return out


def _walkers(world: World, rows: Rows) -> UInt8:
    c = world.table.c
    out = np.zeros(len(rows), wire.WALKER_DATA)
    speed = np.linalg.norm(c.velocity[rows], axis=1)
    moving = speed > 1e-6
    out["direction"][moving] = c.velocity[rows][moving] / speed[moving, None]
    walkers = [world.actors[actor_id] for actor_id in c.actor_id[rows].tolist()]
    out["speed"] = [walker.walk_speed for walker in walkers]
    out["jump"] = c.jump[rows] & 1
    return _bytes(out)


def _lights(world: World) -> UInt8:
    signals = world.signal_state
    out = _poles(signals.opendrive_ids.tobytes(), signals.places.tobytes()).copy()
    out[:, _TIMES] = _bytes(signals.times_s.astype(np.float32))
    out[:, _FROZEN], out[:, _STATE] = signals.frozen, signals.state
    return out


@lru_cache(maxsize=8)
def _poles(opendrive_ids: bytes, places: bytes) -> UInt8:
    """Return the constant state bytes of traffic lights."""
    numbers: Int32 = np.frombuffer(places, np.int32)
    out = np.zeros(len(numbers), wire.LIGHT_DATA)
    out["sign_id"] = np.frombuffer(opendrive_ids, f"S{len(opendrive_ids) // len(numbers)}")
    out["pole"] = numbers
    return _bytes(out)


@lru_cache(maxsize=8)
def _signs(ids: tuple[str, ...]) -> UInt8:
    """Return the constant state bytes of signs."""
    out = np.zeros(len(ids), wire.SIGN_DATA)
    out["sign_id"] = [sign_id.encode() for sign_id in ids]
    return _bytes(out)


def _bytes(rows: npt.NDArray[Any]) -> UInt8:
    return rows.view(np.uint8).reshape(len(rows), -1)
