"""Look-up of lanes by road, number and station."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.network import DRIVABLE, Network
from headless_simulator.towns.speeds import before_bends, bend_limits_kmh
from headless_simulator.towns.strips import Strip, limit_at

Pose6 = tuple[float, float, float, float, float, float]
_MEETING_M: Final = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """All strips with their network."""

    network: Network
    strips: list[Strip]
    _by_road: dict[str, list[Strip]] = field(init=False, default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for strip in self.strips:
            self._by_road[strip.road].append(strip)

    def driving(self, *, junctions: bool = True) -> list[Strip]:
        """Return the lanes for cars."""
        return [strip for strip in self.strips if strip.kind in DRIVABLE and (junctions or not strip.junction)]

    def on_road(self, road: str) -> list[Strip]:
        """Return the strips of a road."""
        return self._by_road.get(road, [])

    def find(self, road: str, lane: int, s: float) -> Strip | None:
        """Return the strip of a lane at a station; past the road's ends, that of the nearest section."""
        strips = [strip for strip in self.on_road(road) if strip.lane == lane]
        return min(strips, key=lambda strip: max(strip.s[0] - s, s - strip.s[-1], 0.0), default=None)


def wrapped_deg(yaw_deg: float) -> float:
    """Return the yaw in (-180, 180], degrees, also after rounding to float32: a client reads -179.99999999 as -180."""
    wrapped = 180.0 - (180.0 - yaw_deg) % 360.0
    return 180.0 if np.float32(wrapped) == -180.0 else wrapped


def pose_on(strip: Strip, s: float) -> Pose6:
    """Return the pose of the lane's centre at a station in the direction of traffic (Unreal's axes, metres, degrees)."""
    line = strip.centre_m
    at = np.array([np.interp(s, strip.s, line[:, axis]) for axis in range(3)])
    segment = int(np.clip(np.searchsorted(strip.s, s) - 1, 0, len(strip.s) - 2))
    ahead = (line[segment + 1] - line[segment]) * strip.forward
    yaw = wrapped_deg(float(np.degrees(np.arctan2(ahead[1], ahead[0]))))
    pitch = float(np.degrees(np.arctan2(ahead[2], np.hypot(ahead[0], ahead[1]))))
    return float(at[0]), float(at[1]), float(at[2]), pitch, yaw, 0.0


def length_of(strip: Strip) -> float:
    """Return the length of a lane's centre line, metres."""
    return float(np.linalg.norm(np.diff(strip.centre_m, axis=0), axis=1).sum())


class _Room(NamedTuple):
    """Clearance of a spawn point: circles along it, ``apart_m`` from those of other points."""

    along_m: tuple[float, ...]
    apart_m: float
    margin_m: float  # to the lane's ends


_CAR: Final = _Room((0.0,), 6.0, 4.0)
_BUS: Final = _Room((-3.5, -1.17, 1.17, 3.5), 3.4, 5.2)  # 10.3 m long, and side by side in lanes of 3.5 m


def spawn_points(lanes: Lanes, requested: int | None) -> Float64:
    """Return (N, 6) spawn poses, metres and degrees: on lane centres outside junctions, 0.3 m above the road.

    Args:
        lanes: the roads.
        requested: number of points, at least 8 m apart. None: about one per 20 m of lane, with room for a bus on each if at
        least four remain. Fewer without room.
    """
    strips = [strip for strip in lanes.driving(junctions=False) if strip.kind == "driving"]
    total = sum(length_of(strip) for strip in strips)
    count = requested if requested is not None else int(np.clip(round(total / 20.0), 4, 500))
    tries = ((11.0, _BUS, 4), (10.0, _CAR, count), (8.2, _CAR, count))
    for step, room, enough in tries[0 if requested is None else 1 :]:
        rows: list[Pose6] = []
        taken: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for strip in strips:
            margin = min(room.margin_m, (strip.s[-1] - strip.s[0]) / 3)
            # Neighbouring lanes start at different stations, so that points are not side by side.
            first = strip.s[0] + margin + (abs(strip.lane) % 2) * step / 2
            for s in np.arange(first, strip.s[-1] - margin, step):
                pose = pose_on(strip, float(s))
                if _width_at(strip, float(s)) > 2.3 and _free(taken, pose, room):
                    rows.append((*pose[:2], pose[2] + 0.3, *pose[3:]))
        if len(rows) >= enough:
            break
    if len(rows) > count:
        rows = [rows[k] for k in np.floor(np.arange(count) * len(rows) / count).astype(int)]
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def _width_at(strip: Strip, s: float) -> float:
    return float(np.interp(s, strip.s, strip.width_m))


def _free(taken: dict[tuple[int, int], list[tuple[float, float]]], pose: Pose6, room: _Room) -> bool:
    """Accept a pose if it is clear of all accepted ones (stations ensure this along the lane); returns whether it is."""
    yaw = np.radians(pose[4])
    circles = [(pose[0] + along * np.cos(yaw), pose[1] + along * np.sin(yaw)) for along in room.along_m]
    for x, y in circles:
        i, j = int(x // 8), int(y // 8)
        for near in ((i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)):
            if any((x - u) ** 2 + (y - v) ** 2 < room.apart_m**2 for u, v in taken.get(near, ())):
                return False
    for x, y in circles:
        taken.setdefault((int(x // 8), int(y // 8)), []).append((x, y))
    return True


def speed_limits(lanes: Lanes, *, sign_bends: bool = False) -> Float64:
    """Return (N, 3) x, y (metres) and limit (km/h) along the driving lanes, about every 10 m.

    Where lanes meet, such as at a junction's entry, the lowest limit applies, so that turning cars are slow in time.

    Args:
        lanes: the roads.
        sign_bends: lower the limit in and before bends so that cars keep to the lane's centre.
    """
    from scipy.spatial import cKDTree  # 18 MB that a finished town no longer needs

    rows, headings = [np.empty((0, 3))], [np.empty(0)]
    for strip in lanes.driving():
        line = strip.centre_m
        at = np.linspace(strip.s[0], strip.s[-1], max(2, int(np.ceil((strip.s[-1] - strip.s[0]) / 10)) + 1))
        x, y = (np.interp(at, strip.s, line[:, axis]) for axis in (0, 1))
        road = lanes.network.roads[strip.road]
        limit = np.array([limit_at(road, s, strip.limit_kmh) for s in at.tolist()])
        if sign_bends:
            limit = np.minimum(limit, bend_limits_kmh(strip, at))
            headings.append(np.arctan2(np.gradient(y), np.gradient(x)) + (np.pi if strip.forward < 0 else 0.0))
        rows.append(np.stack([x, y, limit], axis=1))
    found = np.concatenate(rows)
    if sign_bends:
        found[:, 2] = before_bends(found, np.concatenate(headings))
    meeting = cKDTree(found[:, :2]).query_pairs(_MEETING_M, output_type="ndarray")
    lowest = found[:, 2].copy()
    for one, other in (meeting.T, meeting.T[::-1]):
        np.minimum.at(lowest, one, found[other, 2])
    found[:, 2] = lowest
    return found
