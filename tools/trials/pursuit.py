"""Where a point drives that heads straight for the Traffic Manager's own waypoints: what of a car's way is the client's.

libcarla's Traffic Manager samples lanes every 5 m and steers at the first sample that lies farther off than 3 m or half a
second (``MAP_RESOLUTION``, ``MIN_TARGET_WAYPOINT_DISTANCE`` and ``TARGET_WAYPOINT_TIME_HORIZON`` of its constants), so it
cuts bends that are tighter than that. A point has no wheels, mass or steering of the simulator's.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_APART_M: Final = 5.0
_NEAREST_M: Final = 3.0
_HORIZON_S: Final = 0.5
_EVERY: Final = 20  # ticks between two looks
_Lane = tuple[int, int, int]


def ideal_offsets(world_map: Any, places_m: np.ndarray, step_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Drive a point on the lanes and with the speeds of each car that never changed lanes.

    Args:
        world_map: ``carla.Map`` of the town.
        places_m: (ticks, cars, 3) places; nan where a car is gone.
        step_s: a tick's time.

    Returns:
        (N,) distances from lanes' middles of the cars and of the points, m, at the same looks, on the same lanes.
    """
    samples = {_lane(first): _sampled(first, last) for first, last in world_map.get_topology()}
    pairs = [
        pair
        for car in range(places_m.shape[1])
        if (way := _way(world_map, places_m[:, car], samples)) is not None
        for pair in _pursued(world_map, places_m[:, car], way, step_s)
    ]
    found = np.abs(np.array(pairs, dtype=float).reshape(-1, 2))
    return found[:, 0], found[:, 1]


def _lane(waypoint: Any) -> _Lane:
    return waypoint.road_id, waypoint.section_id, waypoint.lane_id


def _xy(waypoint: Any) -> tuple[float, float]:
    return waypoint.transform.location.x, waypoint.transform.location.y


def _sampled(first: Any, last: Any) -> npt.NDArray[np.float64]:
    found, at = [_xy(first)], first
    while at.transform.location.distance(last.transform.location) > _APART_M:
        further = at.next(_APART_M)
        if not further or (further[0].road_id, further[0].lane_id) != (first.road_id, first.lane_id):
            break
        at = further[0]
        found.append(_xy(at))
    return np.array([*found, _xy(last)])


def _way(world_map: Any, track_m: np.ndarray, samples: dict[_Lane, npt.NDArray[np.float64]]) -> np.ndarray | None:
    import carla

    lanes: list[_Lane] = []
    for place in track_m[::4][np.isfinite(track_m[::4, 0])]:
        waypoint = world_map.get_waypoint(carla.Location(*place.tolist()))
        if waypoint is not None and (not lanes or lanes[-1] != _lane(waypoint)):
            lanes.append(_lane(waypoint))
    if any(one[0] == other[0] and one[2] != other[2] for one, other in pairwise(lanes)):
        return None
    parts = [samples[lane] for lane in lanes if lane in samples]
    return np.concatenate(parts) if parts else None


def _pursued(world_map: Any, track_m: np.ndarray, way: np.ndarray, step_s: float) -> list[tuple[float, float]]:
    at = track_m[_EVERY, :2].copy()
    aim = int(np.argmin(np.linalg.norm(way - at, axis=1)))
    pairs = []
    for tick in range(_EVERY + 1, int(np.isfinite(track_m[:, 0]).sum())):
        speed_mps = float(np.linalg.norm(track_m[tick, :2] - track_m[tick - 1, :2])) / step_s
        while aim < len(way) - 1 and np.linalg.norm(way[aim] - at) < max(_HORIZON_S * speed_mps, _NEAREST_M):
            aim += 1
        ahead = way[aim] - at
        away = max(float(np.linalg.norm(ahead)), 1e-6)
        at = at + ahead / away * min(speed_mps * step_s, away)
        if tick % _EVERY == 0:
            looks = [_offset(world_map, xy, track_m[tick, 2]) for xy in (track_m[tick, :2], at)]
            if looks[0] and looks[1] and looks[0][0] == looks[1][0]:
                pairs.append((looks[0][1], looks[1][1]))
    return pairs


def _offset(world_map: Any, xy: np.ndarray, z: float) -> tuple[tuple[int, int], float] | None:
    import carla

    waypoint = world_map.get_waypoint(carla.Location(float(xy[0]), float(xy[1]), float(z)))
    if waypoint is None or waypoint.is_junction:
        return None
    yaw = np.radians(waypoint.transform.rotation.yaw)
    x, y = xy - np.array(_xy(waypoint))
    return (waypoint.road_id, waypoint.lane_id), float(y * np.cos(yaw) - x * np.sin(yaw))
