"""Ray sensors, which hit the triangles of the images: lidar, semantic lidar, radar, obstacle.

Source: CARLA's documentation of ``sensor.lidar.ray_cast``, ``sensor.lidar.ray_cast_semantic``, ``sensor.other.radar``
and ``sensor.other.obstacle``; points are ordered channel by channel, as in CARLA.
"""

import math
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from headless_simulator.carla.sensors.moment import Body, Moment, Reading
from headless_simulator.scene import STATIC_ID, Float64, Movers
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import rotation
from headless_simulator.world.world import World

LIDAR: Final = "sensor.lidar.ray_cast"
SEMANTIC_LIDAR: Final = "sensor.lidar.ray_cast_semantic"
RADAR: Final = "sensor.other.radar"
OBSTACLE: Final = "sensor.other.obstacle"

SEMANTIC_POINT: Final = np.dtype([("location", "<f4", 3), ("cosine", "<f4"), ("actor", "<u4"), ("tag", "<u4")])
_MOST_RAYS: Final = 150_000  # per tick; more are thinned evenly
_RING: Final = 8
_PART: Final = 20_000  # rays
_helpers: Final = ThreadPoolExecutor(2, thread_name_prefix="rays")


@dataclass(frozen=True, slots=True)
class Scan:
    """Rays of one lidar tick.

    Attributes:
        angle_rad: horizontal angle at which the tick ended.
        channels: number of channels.
        directions: (channels * per channel, 3) unit vectors in the sensor's frame, channel by channel.
        rng: the sensor's random generator.
    """

    angle_rad: float
    channels: int
    directions: Float64
    rng: np.random.Generator


def generator(actor: Actor) -> np.random.Generator:
    """Return the sensor's random generator: equal in every run of a program and after each ``reload_world``."""
    if "rng" not in actor.extra:
        seed = [number(actor, "noise_seed", 0) & 0xFFFFFFFF, actor.place_in_episode & 0xFFFFFFFF]
        actor.extra["rng"] = np.random.default_rng(seed)
    rng: np.random.Generator = actor.extra["rng"]
    return rng


def number(actor: Actor, name: str, default: float) -> Any:
    """Read a numeric attribute; text that is not a number counts as the default."""
    try:
        value = float(actor.order.attributes.get(name, default))
    except ValueError:
        return default
    if not math.isfinite(value):
        return default
    return int(value) if isinstance(default, int) else value


def gather_scan(_world: World, actor: Actor, delta_s: float) -> Scan:
    """Rotate the lidar by one tick."""
    channels = max(1, min(number(actor, "channels", 32), 1024))
    per_channel = max(1, round(number(actor, "points_per_second", 56000) * delta_s / channels))
    per_channel = min(per_channel, _MOST_RAYS // channels)
    field_deg = min(number(actor, "horizontal_fov", 360.0), 360.0)
    sweep_deg = number(actor, "rotation_frequency", 10.0) * field_deg * delta_s
    start_deg = actor.extra.get("angle_deg", 0.0)
    upper, lower = number(actor, "upper_fov", 10.0), number(actor, "lower_fov", -30.0)
    beams = (channels, per_channel, upper, lower, start_deg, sweep_deg, field_deg)
    if actor.extra.get("beams") != beams:  # after whole rotations they equal those of the previous tick
        actor.extra |= {"beams": beams, "directions": _directions(beams)}
    directions = actor.extra["directions"]
    end_deg = (start_deg + sweep_deg) % field_deg
    actor.extra["angle_deg"] = end_deg
    return Scan(math.radians(end_deg), channels, directions, generator(actor))


def _directions(beams: tuple[int, int, float, float, float, float, float]) -> Float64:
    channels, per_channel, upper, lower, start_deg, sweep_deg, field_deg = beams
    down = np.radians(upper - (upper - lower) * np.arange(channels) / max(channels - 1, 1))
    turn = (start_deg + sweep_deg * np.arange(per_channel) / per_channel) % field_deg - field_deg / 2
    turn = np.radians(turn if field_deg < 360 else turn + 180.0)
    up, around = np.repeat(down, per_channel), np.tile(turn, channels)
    return np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=1)


def _cast(reading: Reading, moment: Moment, directions: Float64, reach_m: float, movers: Movers) -> Any:
    """Cast (N, 3) directions of the sensor's frame, in parts on several cores if there are many."""
    pose = reading.pose
    world = directions @ rotation(pose[3], pose[4], pose[5]).T
    origin = np.array(pose[:3])
    if len(world) <= _PART:
        return moment.renderer.cast(origin, world, reach_m, movers)
    parts = [world[first : first + _PART] for first in range(0, len(world), _PART)]
    found = _helpers.map(lambda part: moment.renderer.cast(origin, part, reach_m, movers), parts)
    return tuple(np.concatenate(columns) for columns in zip(*found, strict=True))


def _per_channel(is_returned: Any, scan: Scan) -> bytes:
    counts: bytes = is_returned.reshape(scan.channels, -1).sum(axis=1).astype("<u4").tobytes()
    return struct.pack("<fI", scan.angle_rad, scan.channels) + counts


def lidar(reading: Reading, moment: Moment) -> list[Body]:
    """Return points [x, y, z, intensity] in the sensor's frame, metres."""
    scan: Scan = reading.state
    actor = reading.actor
    distance_m, _, _, _ = _cast(reading, moment, scan.directions, number(actor, "range", 10.0), moment.movers)
    is_returned = np.isfinite(distance_m)
    distance = np.where(is_returned, distance_m.astype(np.float64), 0.0)
    intensity = np.exp(-number(actor, "atmosphere_attenuation_rate", 0.004) * distance)
    dice = scan.rng.random((2, len(distance)))
    is_returned &= dice[0] >= number(actor, "dropoff_general_rate", 0.45)
    limit = number(actor, "dropoff_intensity_limit", 0.8)
    if limit > 0:
        alpha = number(actor, "dropoff_zero_intensity", 0.4)
        is_returned &= (intensity > limit) | (dice[1] >= alpha * (1 - intensity / limit))
    noise = number(actor, "noise_stddev", 0.0)
    if noise > 0:
        distance = distance + scan.rng.normal(0.0, noise, len(distance))
    points = np.empty((int(is_returned.sum()), 4), "<f4")
    points[:, :3] = scan.directions[is_returned] * distance[is_returned, None]
    points[:, 3] = intensity[is_returned]
    return [(_per_channel(is_returned, scan), points.tobytes())]


def semantic_lidar(reading: Reading, moment: Moment) -> list[Body]:
    """Return points, metres, with cosine of incidence, actor id and tag, without drop-off."""
    scan: Scan = reading.state
    reach_m = number(reading.actor, "range", 10.0)
    distance_m, ids, tag, cosine = _cast(reading, moment, scan.directions, reach_m, moment.movers)
    is_hit = np.isfinite(distance_m)
    points = np.empty(int(is_hit.sum()), SEMANTIC_POINT)
    points["location"] = scan.directions[is_hit] * distance_m[is_hit, None]
    points["cosine"], points["tag"] = cosine[is_hit], tag[is_hit]
    points["actor"] = np.where(ids[is_hit] & STATIC_ID, 0, ids[is_hit])
    return [(_per_channel(is_hit, scan), points.tobytes())]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Rays of one radar tick, and the velocities of actors.

    Attributes:
        directions: (N, 3) unit vectors in the sensor's frame.
        velocity: (3,) the radar's velocity, m/s in world axes.
        ids, velocities: (A,) ascending actor ids and their (A, 3) velocities, m/s in world axes.
    """

    directions: Float64
    velocity: Float64
    ids: Any
    velocities: Float64


def gather_radar(world: World, actor: Actor, delta_s: float) -> Sweep:
    """Draw the radar's rays, uniform in angle and radius of its cone."""
    count = max(1, min(round(number(actor, "points_per_second", 1500) * delta_s), _MOST_RAYS))
    rng = generator(actor)
    radius, angle = rng.random(count), rng.random(count) * 2 * math.pi
    wide = math.tan(math.radians(min(number(actor, "horizontal_fov", 30.0), 170.0)) / 2)
    high = math.tan(math.radians(min(number(actor, "vertical_fov", 30.0), 170.0)) / 2)
    directions = np.stack([np.ones(count), wide * radius * np.cos(angle), high * radius * np.sin(angle)], axis=1)
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    c, rows = world.table.c, world.table.rows()
    return Sweep(directions, c.velocity[actor.row].copy(), c.actor_id[rows].astype(np.int64), c.velocity[rows])


def radar(reading: Reading, moment: Moment) -> list[Body]:
    """Return detections [velocity (negative: approaching), azimuth, altitude, depth], m/s, radians, metres."""
    sweep: Sweep = reading.state
    reach_m = number(reading.actor, "range", 100.0)
    distance_m, ids, _, _ = _cast(reading, moment, sweep.directions, reach_m, _movers_besides_parent(reading, moment))
    is_hit = np.isfinite(distance_m)
    directions = sweep.directions[is_hit]
    pose = reading.pose
    world = directions @ rotation(pose[3], pose[4], pose[5]).T
    hit = ids[is_hit].astype(np.int64)
    index = np.minimum(np.searchsorted(sweep.ids, hit), len(sweep.ids) - 1)
    moving = (sweep.ids[index] == hit)[:, None]
    velocity = np.where(moving, sweep.velocities[index], 0.0) - sweep.velocity
    out = np.empty((len(directions), 4), "<f4")
    out[:, 0] = (velocity * world).sum(axis=1)
    out[:, 1] = np.arctan2(directions[:, 1], directions[:, 0])
    out[:, 2] = np.arcsin(np.clip(directions[:, 2], -1, 1))
    out[:, 3] = distance_m[is_hit]
    return [(out.tobytes(),)]


def without(movers: Movers, actor_ids: Sequence[int]) -> Movers:
    """Return the movers without the bodies of some actors."""
    keep = ~np.isin(movers.actor_id, actor_ids)
    return replace(
        movers, model=movers.model[keep], pose=movers.pose[keep], actor_id=movers.actor_id[keep],
        colour_rgb=movers.colour_rgb[keep], lights=movers.lights[keep],
    )  # fmt: skip


def _movers_besides_parent(reading: Reading, moment: Moment) -> Movers:
    return without(moment.movers, [reading.parent.actor_id] if reading.parent else [])


def nearest_obstacle(reading: Reading, moment: Moment) -> tuple[float, int] | None:
    """Return distance, metres, and id (0: the town) of the first hit of a cylinder of ``hit_radius`` ahead, or None."""
    actor = reading.actor
    radius, reach_m = number(actor, "hit_radius", 0.5), number(actor, "distance", 5.0)
    around = np.arange(_RING) * 2 * math.pi / _RING
    ring = np.stack([np.zeros(_RING), radius * np.cos(around), radius * np.sin(around)], axis=1)
    starts = np.concatenate([np.zeros((1, 3)), ring])
    turn = rotation(reading.pose[3], reading.pose[4], reading.pose[5])
    origins = starts @ turn.T + np.array(reading.pose[:3])
    directions = np.broadcast_to(turn[:, 0], origins.shape)
    movers = _movers_besides_parent(reading, moment)
    distance_m, ids, _, _ = moment.renderer.cast(origins, np.ascontiguousarray(directions), reach_m, movers)
    static = (ids & STATIC_ID).astype(bool) | (ids == 0)
    if actor.order.attributes.get("only_dynamics", "false").lower() in ("true", "1"):
        distance_m = np.where(static, np.inf, distance_m)
    best = int(np.argmin(distance_m))
    if not np.isfinite(distance_m[best]):
        return None
    return float(distance_m[best]), 0 if static[best] else int(ids[best])
