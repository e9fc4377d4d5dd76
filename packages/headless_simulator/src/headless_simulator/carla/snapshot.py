"""The state of every actor at one tick, in the format of the world observer."""

import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from headless_simulator.carla import wire
from headless_simulator.scene import UInt8
from headless_simulator.world.signals import GREEN
from headless_simulator.world.table import LIGHT, SIGN, VEHICLE, WALKER, Rows
from headless_simulator.world.world import World

_ACTIVE, _DORMANT = 1, 2
_DATA: Final = wire.ACTOR_STATE.itemsize - wire.VEHICLE_DATA.itemsize  # offset of the last field


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


@np.errstate(over="ignore")  # a number too large for float32 is sent as infinity
def _states(world: World) -> UInt8:
    """Return (N, size of ``ACTOR_STATE``) uint8, one row per actor."""
    c, table = world.table.c, world.table
    rows = table.rows()
    out = np.zeros(len(rows), wire.ACTOR_STATE)
    out["id"] = c.actor_id[rows]
    out["state"] = np.where(c.dormant[rows], _DORMANT, _ACTIVE)
    out["transform"] = c.pose[rows]
    for name in ("velocity", "angular", "acceleration"):
        out[name] = getattr(c, name)[rows]
    states = _bytes(out)
    data = states[:, _DATA:]
    if len(vehicles := table.rows(VEHICLE)):
        data[table.places(VEHICLE)] = _vehicles(world, vehicles)
    if len(walkers := table.rows(WALKER)):
        data[table.places(WALKER)] = _walkers(world, walkers)
    if len(lights := table.places(LIGHT)):
        data[lights] = _lights(world)
    if len(signs := table.places(SIGN)):
        data[signs] = _signs(world)
    return states


def _vehicles(world: World, rows: Rows) -> UInt8:
    c = world.table.c
    out = np.zeros(len(rows), wire.VEHICLE_DATA)
    for name in ("control", "hand_brake", "reverse", "manual", "gear"):
        out[name] = getattr(c, name)[rows]
    is_active = c.dormant[rows] == 0
    out["limit"][is_active] = c.limit[rows[is_active]]
    at_light = is_active & (c.signal[rows] >= 0)
    lights = c.signal[rows[at_light]]
    out["tl_state"] = GREEN
    out["tl_state"][at_light] = world.signal_state.state[lights]
    out["has_tl"] = at_light
    out["tl_id"][at_light] = world.light_ids[lights]
    return _bytes(out)


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
    out = np.zeros(len(signals.state), wire.LIGHT_DATA)
    out["sign_id"], out["pole"] = signals.opendrive_ids, signals.places
    for column, name in enumerate(("green", "yellow", "red", "elapsed")):
        out[name] = signals.times_s[:, column]
    out["frozen"], out["state"] = signals.frozen, signals.state
    return _bytes(out)


def _signs(world: World) -> UInt8:
    out = np.zeros(len(world.sign_ids), wire.SIGN_DATA)
    out["sign_id"] = world.sign_ids
    return _bytes(out)


def _bytes(rows: npt.NDArray[Any]) -> UInt8:
    return rows.view(np.uint8).reshape(len(rows), rows.itemsize)
