"""Laws of traffic: cars do not overlap for long, leave the middle of their lanes, or turn faster than tyres hold."""

from collections import Counter
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

__all__ = ["LANE_EVERY", "Lanes", "Overlaps", "lateral_mps2", "overlapping"]

LASTING_S: Final = 1.0
LANE_EVERY: Final = 20  # ticks between two looks at the lanes
CHANGING_S: Final = 3.0  # a look counts as a lane change when the lane was another within this time before or after
SHRINK_M: Final = 0.05  # bumpers that touch are no overlap


class Overlaps:
    """Counts pairs of boxes that overlap without a pause for over a second."""

    def __init__(self, half: np.ndarray, step_s: float) -> None:
        self._half = half - np.array([SHRINK_M, SHRINK_M, 0.0])
        self._lasting_ticks = round(LASTING_S / step_s)
        self._since: dict[tuple[int, int], int] = {}
        self.lasting: dict[tuple[int, int, int], int] = {}  # (one, other, first tick) -> ticks

    def look(self, tick: int, poses: np.ndarray) -> None:
        """Take (N, 4) poses of one tick into account."""
        pairs = {(int(a), int(b)) for a, b in overlapping(poses[:, :3], poses[:, 3], self._half)}
        self._since = {pair: self._since.get(pair, tick) for pair in pairs}
        for (one, other), first in self._since.items():
            if tick - first >= self._lasting_ticks:
                self.lasting[one, other, first] = tick - first


class Lanes:
    """Distances from lane centres, with the lane that each vehicle was in."""

    def __init__(self, world_map: object, *, looks: int, vehicles: int) -> None:
        self._map = world_map
        self._ticks = np.zeros(looks, np.int64)
        self._offset_m = np.full((looks, vehicles), np.nan)  # all there from the start: memory is measured too
        self._road = np.zeros((looks, vehicles), np.int64)
        self._lane = np.zeros((looks, vehicles), np.int64)
        self._looks = 0

    def look(self, tick: int, poses: np.ndarray) -> None:
        """Measure (N, 4) poses of one tick against the map's lanes."""
        import carla

        at = self._looks
        self._ticks[at], self._looks = tick, at + 1
        for row, (x, y, z, _) in enumerate(poses.tolist()):
            waypoint = self._map.get_waypoint(carla.Location(x, y, z)) if x == x else None  # type: ignore[attr-defined]
            if waypoint is None or waypoint.is_junction:
                continue
            place = waypoint.transform
            yaw = np.radians(place.rotation.yaw)
            self._offset_m[at, row] = abs(-(x - place.location.x) * np.sin(yaw) + (y - place.location.y) * np.cos(yaw))
            self._road[at, row], self._lane[at, row] = waypoint.road_id, waypoint.lane_id

    def offsets(self, step_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Return all offsets, and those not within ``CHANGING_S`` of a lane change on the same road."""
        offset = self._offset_m[: self._looks]
        return offset[np.isfinite(offset)], offset[self._keeping(step_s)]

    def farthest(self, step_s: float, beyond_m: float) -> list[tuple[str, int]]:
        """Return the lanes ("road 3 lane -1") on which vehicles were farther off without a lane change, and how often."""
        far = self._keeping(step_s) & (self._offset_m[: self._looks] > beyond_m)
        lanes = zip(self._road[: self._looks][far].tolist(), self._lane[: self._looks][far].tolist(), strict=True)
        return Counter(f"road {road} lane {lane}" for road, lane in lanes).most_common(6)

    def _keeping(self, step_s: float) -> np.ndarray:
        """(looks, vehicles) bool: a known offset, not within ``CHANGING_S`` of a lane change."""
        road, lane = self._road[: self._looks], self._lane[: self._looks]
        known = np.isfinite(self._offset_m[: self._looks])
        changed = np.zeros_like(known)
        changed[1:] = known[1:] & known[:-1] & (road[1:] == road[:-1]) & (lane[1:] != lane[:-1])
        reach = int(np.ceil(CHANGING_S / step_s / LANE_EVERY))
        near = np.zeros_like(known)
        for shift in range(-reach, reach + 1):
            lo, hi = max(0, shift), min(len(known), len(known) + shift)
            near[lo:hi] |= changed[lo - shift : hi - shift]
        kept: np.ndarray = known & ~near
        return kept


def overlapping(places: np.ndarray, yaws: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return (P, 2) pairs of rows whose upright boxes overlap.

    Args:
        places: (N, 3) centres; rows with nan never overlap.
        yaws: (N,) radians.
        half: (N, 3) half length, width, height.
    """
    alive = np.flatnonzero(np.isfinite(places).all(axis=1))
    if len(alive) < 2:
        return np.zeros((0, 2), np.int64)
    reach = 2 * np.linalg.norm(half[alive, :2], axis=1).max()
    near = alive[cKDTree(places[alive, :2]).query_pairs(reach, output_type="ndarray")]
    near = near[np.abs(places[near[:, 0], 2] - places[near[:, 1], 2]) < half[near].sum(axis=1)[:, 2]]
    axes = np.stack([np.cos(yaws), np.sin(yaws), -np.sin(yaws), np.cos(yaws)], axis=1).reshape(-1, 2, 2)
    apart = places[near[:, 1], :2] - places[near[:, 0], :2]
    touching = np.ones(len(near), bool)
    for side in (0, 1):
        for axis in (0, 1):
            way = axes[near[:, side], axis]
            gap = np.abs((apart * way).sum(axis=1))
            reached = sum(
                half[near[:, box], k] * np.abs((axes[near[:, box], k] * way).sum(axis=1))
                for box in (0, 1)
                for k in (0, 1)
            )
            touching &= gap < reached
    return np.sort(near[touching], axis=1)


_REACH = 2  # ticks to either side: a single tick's wobble of 1 mm is 0.4 m/s2 at 0.05 s


def lateral_mps2(
    places_m: npt.NDArray[np.floating], *, step_s: float, least_mps: float = 1.0
) -> npt.NDArray[np.float64]:
    """Return how strongly each car is pulled to its side: speed times the rate at which its course turns.

    Args:
        places_m: (ticks, cars, 2) positions in the plane; nan for a car that is gone.
        step_s: from one tick to the next.
        least_mps: slower cars have no course to speak of.

    Returns:
        (ticks, cars) magnitudes; nan at both ends of the drive, where a car is gone, and where it is slower.
    """
    lateral = np.full(places_m.shape[:2], np.nan)
    if len(places_m) <= 2 * _REACH:
        return lateral
    reach_s = _REACH * step_s
    before = (places_m[_REACH:-_REACH] - places_m[: -2 * _REACH]) / reach_s
    after = (places_m[2 * _REACH :] - places_m[_REACH:-_REACH]) / reach_s
    course = (before + after) / 2
    speed_mps = np.linalg.norm(course, axis=-1)
    across = np.abs(course[..., 0] * (after - before)[..., 1] - course[..., 1] * (after - before)[..., 0])
    with np.errstate(invalid="ignore", divide="ignore"):
        lateral[_REACH:-_REACH] = np.where(speed_mps >= least_mps, across / reach_s / speed_mps, np.nan)
    return lateral
