"""The state of every actor at one tick, packed as the world observer sends it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from headless_simulator.carla import wire
from headless_simulator.scene import UInt8
from headless_simulator.world.signals import GREEN
from headless_simulator.world.table import LIGHT, SIGN, VEHICLE, WALKER, Rows
from headless_simulator.world.world import World


def pack(world: World, *, flags: int, spoiled: Sequence[int] = ()) -> bytes:
    """Pack the world as it is now; the poses of ``spoiled`` actors are no numbers."""
    with world.lock:
        header = wire.SENSOR_HEADER.pack(wire.WORLD_OBSERVER, world.frame, world.elapsed_s, *(0.0,) * 6)
        episode = wire.EPISODE_HEADER.pack(world.episode, time.time(), world.delta_s, 0, 0, 0, flags)
        states = _states(world)
        if spoiled:
            states["transform"][np.isin(states["id"], spoiled)] = np.nan
        return header + episode + states.tobytes()


def _states(world: World) -> npt.NDArray[np.void]:
    c = world.table.c
    rows = world.table.rows()
    out = np.zeros(len(rows), wire.ACTOR_STATE)
    out["id"], out["state"] = c.actor_id[rows], 1
    out["transform"], out["velocity"] = c.pose[rows], c.velocity[rows]
    out["angular"], out["acceleration"] = c.angular[rows], c.acceleration[rows]
    kind = c.kind[rows]
    data = out["data"]
    vehicles = np.flatnonzero(kind == VEHICLE)
    if len(vehicles):
        data[vehicles] = _vehicles(world, rows[vehicles])
    walkers = np.flatnonzero(kind == WALKER)
    if len(walkers):
        data[walkers] = _walkers(world, rows[walkers])
    lights = np.flatnonzero(kind == LIGHT)
    if len(lights):
        data[lights] = _lights(world)
    signs = np.flatnonzero(kind == SIGN)
    if len(signs):
        sign = np.zeros(len(signs), wire.SIGN_DATA)
        sign["sign_id"] = c.actor_id[rows[signs]].astype("S")
        data[signs] = sign.view("V54")
    return out


def _vehicles(world: World, rows: Rows) -> npt.NDArray[np.void]:
    c = world.table.c
    out = np.zeros(len(rows), wire.VEHICLE_DATA)
    out["control"] = c.control[rows]
    out["hand_brake"], out["reverse"], out["manual"] = c.hand_brake[rows], c.reverse[rows], c.manual[rows]
    out["gear"], out["limit"] = c.gear[rows], c.limit[rows]
    at = c.signal[rows]
    near = at >= 0
    out["tl_state"] = GREEN
    if near.any():
        state: UInt8 = world.signal_state.state
        ids = np.array([light.actor_id for light in world.lights], np.uint32)
        out["tl_state"][near], out["tl_id"][near] = state[at[near]], ids[at[near]]
        out["has_tl"][near] = 1
    return out.view("V54")


def _walkers(world: World, rows: Rows) -> npt.NDArray[np.void]:
    c = world.table.c
    out = np.zeros(len(rows), wire.WALKER_DATA)
    speed = np.linalg.norm(c.velocity[rows], axis=1)
    moving = speed > 1e-6
    out["direction"][moving] = c.velocity[rows][moving] / speed[moving, None]
    out["speed"] = [world.actors[int(i)].walk_speed for i in c.actor_id[rows]]
    out["jump"] = [world.actors[int(i)].jump for i in c.actor_id[rows]]
    return out.view("V54")


def _lights(world: World) -> npt.NDArray[np.void]:
    signals = world.signal_state
    out = np.zeros(len(signals.heads), wire.LIGHT_DATA)
    out["sign_id"] = signals.opendrive_ids
    for name, value in (("green", "green_s"), ("yellow", "yellow_s"), ("red", "red_s"), ("elapsed", "elapsed_s")):
        out[name] = [getattr(lamp, value) for lamp in signals.lamps]
    out["pole"] = signals.places
    out["frozen"], out["state"] = signals.frozen, signals.state
    return out.view("V54")
