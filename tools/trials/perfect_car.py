"""The part of a car's way that is the Traffic Manager's own: where a perfect car drives that obeys its steering.

libcarla's Traffic Manager samples lanes every 5 m, and more often where two samples differ in heading by over 5 degrees. It
steers at the first sample that lies 3 m or 0.3 s beyond the next one ahead, with a PID controller whose output moves by at
most 0.15 a tick (``InMemoryMap::SetUp``, ``GetTargetWaypoint`` and ``PID::RunStep`` of CARLA 0.9.16). Its rules are applied
twice: to the places of the real cars, which must give the steering that it sent, and to a car without tyres or steering
gear, whose wheels stand at once as it sends and never slide.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from tools.trials.traffic_law import LANE_EVERY

_APART_M: Final = 5.0
_SPLIT_RAD: Final = 0.087
_SPLIT_M2: Final = _APART_M / 2 + _APART_M**2
_NARROWEST_M: Final = 1.0
_NEAREST_M: Final = 3.0
_HORIZON_S: Final = 0.3
_HIGHWAY_MPS: Final = 60 / 3.6
_STEER_AT_ONCE: Final = 0.15
_STEER_MOST: Final = 0.8
_STEER_RAD: Final = math.radians(70.0)
_TICK_S: Final = 0.05  # what the Traffic Manager takes a tick for
_ASIDE_M: Final = 1.6  # a car that is farther from a lane's samples than that, in the middle, drives on another
_LEFT_M: Final = 1.8  # and one that is farther from the line through its samples has left for another
_SHORTEST: Final = 40  # ticks on one way
_Lane = tuple[int, int, int]
_Nodes = dict[_Lane, np.ndarray]


class Compared(NamedTuple):
    """At the same looks: (N,) distances from lanes' middles, m, and how far the replica's steering was off, 0..1."""

    cars_m: np.ndarray
    perfect_m: np.ndarray
    steering: np.ndarray


def compare(world_map: Any, poses: np.ndarray, steer: np.ndarray, lengths_m: np.ndarray, step_s: float) -> Compared:
    """Drive a perfect car with the speeds of each car along each of its ways without a lane change.

    Args:
        world_map: ``carla.Map`` of the town.
        poses: (ticks, cars, 4) x, y, z in metres and yaw in radians; nan where a car is gone.
        steer: (ticks, cars) what the Traffic Manager had sent to each car in that tick.
        lengths_m: (cars,) of the vehicles.
        step_s: a tick's time.
    """
    nodes = _nodes(world_map)
    after: dict[_Lane, list[_Lane]] = defaultdict(list)
    for first, then in world_map.get_topology():
        if _lane(first) != _lane(then):
            after[_lane(first)].append(_lane(then))
    looks, errors = [], []
    for car in range(poses.shape[1]):
        track = poses[: int(np.isfinite(poses[:, car, 0]).sum()), car]
        for begin, end, way in _ways(world_map, track, nodes, after):
            error = _replayed(way, track[begin:end], steer[begin:end, car], step_s)
            errors.append(error)
            driven = _driven(way, track[begin:end], 0.6 * float(lengths_m[car]), step_s)
            for look in range(LANE_EVERY, end - begin - 1, LANE_EVERY):
                z = float(track[begin + look, 2])
                own, ideal = (_offset(world_map, xy, z) for xy in (track[begin + look, :2], driven[look]))
                if own and ideal and own[0] == ideal[0]:
                    looks.append((own[1], ideal[1]))
    found = np.abs(np.array(looks, float).reshape(-1, 2))
    return Compared(found[:, 0], found[:, 1], np.concatenate(errors) if errors else np.empty(0))


def _nodes(world_map: Any) -> _Nodes:
    """Return the samples of each lane in the direction of its traffic, as the Traffic Manager makes them."""
    lanes: dict[_Lane, list[Any]] = defaultdict(list)
    for waypoint in world_map.generate_waypoints(_APART_M):
        if waypoint.lane_width > _NARROWEST_M:
            lanes[_lane(waypoint)].append(waypoint)
    nodes = {}
    for lane, found in lanes.items():
        found.sort(key=lambda waypoint: waypoint.s, reverse=lane[2] > 0)
        dense = [found[0]]
        for then in found[1:]:
            apart = abs(then.s - dense[-1].s)
            splits = max(int(_turn(dense[-1], then) / _SPLIT_RAD), int(apart**2 / _SPLIT_M2))
            for _ in range(splits):
                further = dense[-1].next(apart / (splits + 1))
                if not further:
                    break
                dense.append(further[0])
            dense.append(then)
        nodes[lane] = np.array([_xy(waypoint) for waypoint in dense])
    return nodes


def _ways(
    world_map: Any, track: np.ndarray, nodes: _Nodes, after: dict[_Lane, list[_Lane]]
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield (first tick, end, samples ahead) of the parts of a track that follow connected lanes."""
    import carla

    tree, free_from = cKDTree(track[:, :2]), 0
    for tick in range(0, len(track), 2):
        if tick < free_from:
            continue
        waypoint = world_map.get_waypoint(carla.Location(*track[tick, :3].tolist()))
        lane = _lane(waypoint) if waypoint else None
        if lane not in nodes:
            continue
        parts, far = [nodes[lane]], tick
        while len(parts) < 200 and (best := _next_lane(tree, lane, nodes, after, far)):
            if best[2] <= far and far >= len(track) - 2:
                break
            lane, far = best[1], max(far, best[2])
            parts.append(nodes[lane])
        way = np.concatenate(parts)
        aside = np.flatnonzero(cKDTree(_dense(way)).query(track[tick:, :2])[0] > _LEFT_M)
        free_from = tick + (int(aside[0]) if len(aside) else len(track) - tick)
        if free_from - tick > _SHORTEST:
            yield tick, free_from, way


def _dense(way: np.ndarray) -> np.ndarray:
    """Return places about 0.2 m apart on the line through samples."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], int(along[-1] / 0.2) + 2)
    return np.stack([np.interp(at, along, way[:, axis]) for axis in (0, 1)], axis=1)


def _next_lane(
    tree: cKDTree, lane: _Lane, nodes: _Nodes, after: dict[_Lane, list[_Lane]], far: int
) -> tuple[float, _Lane, int] | None:
    """Return (distance, lane, last tick there) of the following lane that the track goes on; None where it is none."""
    found = []
    for then in after.get(lane, ()):
        for one in [then] if then in nodes else [more for more in after.get(then, ()) if more in nodes]:
            away, tick = tree.query(nodes[one])
            if (later := tick > far - 5).any():
                found.append((float(np.median(away[later])), one, int(tick.max())))
    best = min(found, default=None)
    return best if best and best[0] <= _ASIDE_M else None


class _Driver:
    """The Traffic Manager's steering along one way."""

    def __init__(self, way: np.ndarray) -> None:
        self.way, self.front, self.deviation, self.steer = way, 0, 0.0, 0.0

    def turn(self, xy: np.ndarray, yaw: float, mps: float) -> float:
        """Return the steering, -1..1, for a car at (2,) ``xy``."""
        nose = np.array([math.cos(yaw), math.sin(yaw)])
        while self.front < len(self.way) - 1 and (self.way[self.front] - xy) @ nose <= 1e-9:
            self.front += 1
        to = self._target(max(mps * _HORIZON_S, _NEAREST_M)) - xy
        share = min(max(float(to @ nose) / max(math.hypot(*to), 1e-9), 0.0), 1.0)
        now = math.copysign(math.acos(share) / math.pi, nose[0] * to[1] - nose[1] * to[0])
        p, i, d = (2.0, 0.02, 0.04) if mps > _HIGHWAY_MPS else (4.0, 0.02, 0.08)
        wanted = p * now + i * (now + self.deviation) * _TICK_S + d * (now - self.deviation) / _TICK_S
        wanted = min(max(wanted, self.steer - _STEER_AT_ONCE), self.steer + _STEER_AT_ONCE)
        self.deviation, self.steer = now, min(max(wanted, -_STEER_MOST), _STEER_MOST)
        return self.steer

    def _target(self, distance_m: float) -> np.ndarray:
        ahead = self.way[self.front :]
        target: np.ndarray = ahead[0] if distance_m / _APART_M < len(ahead) else ahead[-1]
        for sample in ahead[int(distance_m / _APART_M) :]:
            if math.dist(target, ahead[0]) >= distance_m:
                break
            target = sample
        return target


def _replayed(way: np.ndarray, track: np.ndarray, sent: np.ndarray, step_s: float) -> np.ndarray:
    """Differences between the steering that was sent and the replica's, from the places that the manager saw."""
    driver, differences = _Driver(way), []
    for tick in range(1, len(track) - 1):
        driver.turn(track[tick, :2], track[tick, 3], math.dist(track[tick, :2], track[tick - 1, :2]) / step_s)
        differences.append(abs(driver.steer - sent[tick + 1]))
        driver.steer = float(sent[tick + 1])
    return np.array(differences[LANE_EVERY:])


def _driven(way: np.ndarray, track: np.ndarray, wheelbase_m: float, step_s: float) -> np.ndarray:
    """(ticks, 2) places of the perfect car: a kinematic bicycle about its middle with the track's speeds."""
    driver, at, yaw = _Driver(way), track[0, :2].copy(), float(track[0, 3])
    places = [at.copy()]
    for then, now in zip(track[1:, :2], track[:-1, :2], strict=True):
        mps = math.dist(then, now) / step_s
        wheels = driver.turn(at, yaw, mps) * _STEER_RAD
        slip = math.atan(0.5 * math.tan(wheels))
        swing = mps * math.cos(slip) * math.tan(wheels) / wheelbase_m * step_s
        course = yaw + slip + 0.5 * swing
        at += mps * step_s * np.array([math.cos(course), math.sin(course)])
        yaw += swing
        places.append(at.copy())
    return np.array(places)


def _lane(waypoint: Any) -> _Lane:
    return waypoint.road_id, waypoint.section_id, waypoint.lane_id


def _xy(waypoint: Any) -> tuple[float, float]:
    return waypoint.transform.location.x, waypoint.transform.location.y


def _turn(one: Any, other: Any) -> float:
    a, b = (waypoint.transform.get_forward_vector() for waypoint in (one, other))
    return math.acos(min(max(a.x * b.x + a.y * b.y + a.z * b.z, -1.0), 1.0))


def _offset(world_map: Any, xy: np.ndarray, z: float) -> tuple[tuple[int, int], float] | None:
    import carla

    waypoint = world_map.get_waypoint(carla.Location(float(xy[0]), float(xy[1]), z))
    if waypoint is None or waypoint.is_junction:
        return None
    yaw = math.radians(waypoint.transform.rotation.yaw)
    x, y = xy - np.array(_xy(waypoint))
    return (waypoint.road_id, waypoint.lane_id), y * math.cos(yaw) - x * math.sin(yaw)
