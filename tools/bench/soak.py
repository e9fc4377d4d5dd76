"""The Traffic Manager soak: many ticks with 200 vehicles; overlaps, lane keeping, memory.

``python -m tools.bench.soak PORT SERVER_PID --ticks N`` is the client's process; it prints one JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import psutil

from tools.bench.geometry import overlapping
from tools.bench.rows import Row, in_own_process, simulator

VEHICLES = 200
LASTING_S = 1.0
LANE_EVERY = 20  # ticks between two looks at the lanes
CHANGING_S = 3.0  # a look counts as a lane change when the lane was another within this time before or after
MOVING_MPS = 0.5
SHRINK_M = 0.05  # bumpers that touch are no overlap


def rows(ticks: int = 20_000, town: str = "Town10HD") -> Iterator[Row]:
    """Run the soak against a simulator of our own."""
    with simulator("--town", town, "--render", "flat") as running:
        told = in_own_process(
            "soak", str(running.port), str(running.process.pid), "--ticks", str(ticks), timeout_s=6 * 3600
        )
    how = f"{told['vehicles']} vehicles, {ticks} sync ticks of 0.05 s, {town}, official client"
    yield Row("soak_lasting_overlaps", told["lasting"], "pairs", f"boxes overlap for over 1 s; {how}; {told['worst']}")
    yield Row(
        "soak_lane_offset_p99_m", told["p99_keeping"], "m", f"not within 3 s of a lane change, no junctions; {how}"
    )
    yield Row("soak_lane_offset_p99_all_m", told["p99_all"], "m", f"lane changes included, no junctions; {how}")
    yield Row("soak_server_memory_growth", told["server_growth"], "ratio", f"last quarter to second, RSS; {how}")
    yield Row("soak_client_memory_growth", told["client_growth"], "ratio", f"last quarter to second, RSS; {how}")
    yield Row("soak_moving_share", told["moving"], "share", f"vehicles faster than 0.5 m/s, mean over the run; {how}")
    yield Row("soak_moving_share_late", told["moving_late"], "share", f"the same over the last quarter; {how}")
    yield Row(
        "soak_stood_longest_s",
        told["stood"],
        "s",
        f"longest that a vehicle stood without a pause, of those left; {how}",
    )
    yield Row("soak_removed", told["removed"], "vehicles", f"by the Traffic Manager, as stuck for over 90 s; {how}")
    yield Row("soak_ticks_per_s", ticks / told["wall_s"], "ticks/s", f"checks included; {how}")


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


def main() -> None:
    """Drive, look, and print."""
    from tools.bench.traffic import STEP_S, Traffic

    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("server_pid", type=int)
    parser.add_argument("--ticks", type=int, default=20_000)
    options = parser.parse_args()
    traffic = Traffic(options.port, vehicles=VEHICLES)
    server, own = psutil.Process(options.server_pid), psutil.Process()
    overlaps, lanes = (
        Overlaps(traffic.half_extents(), STEP_S),
        Lanes(traffic.map, looks=options.ticks // LANE_EVERY + 1, vehicles=len(traffic.ids)),
    )
    memory, moving, before = [], [], traffic.poses()
    stands_since, stood_ticks = np.zeros(len(traffic.ids), np.int64), 0
    started = time.perf_counter()
    for tick in range(options.ticks):
        traffic.world.tick(120.0)
        poses = traffic.poses()
        overlaps.look(tick, poses)
        if tick % LANE_EVERY == 0:
            lanes.look(tick, poses)
            memory.append((server.memory_info().rss, own.memory_info().rss))
            there = np.isfinite(poses[:, 0])
            drives = np.linalg.norm((poses - before)[:, :2], axis=1) > MOVING_MPS * STEP_S
            moving.append(drives[there].mean())
            stands_since[drives | ~there] = tick
            stood_ticks = max(stood_ticks, tick - int(stands_since.min()))
        before = poses
    every, keeping = lanes.offsets(STEP_S)
    quarter = len(memory) // 4
    used = np.array(memory, float)
    growth = used[-quarter:].mean(axis=0) / used[quarter : 2 * quarter].mean(axis=0)
    worst = sorted(overlaps.lasting.items(), key=lambda item: -item[1])[:5]
    kinds = [vehicle.type_id for vehicle in traffic.vehicles]
    named = [f"{kinds[a]} and {kinds[b]} from tick {first} for {n * STEP_S:.1f} s" for (a, b, first), n in worst]
    told = {
        "vehicles": len(traffic.ids),
        "lasting": len(overlaps.lasting),
        "worst": "; ".join(named) or "none",
        "p99_keeping": float(np.percentile(keeping, 99)),
        "p99_all": float(np.percentile(every, 99)),
        "server_growth": float(growth[0]),
        "client_growth": float(growth[1]),
        "moving": float(np.mean(moving)),
        "moving_late": float(np.mean(moving[-quarter:])),
        "stood": stood_ticks * STEP_S,
        "removed": int(np.isnan(before[:, 0]).sum()),
        "wall_s": time.perf_counter() - started,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors; the simulator is ended by whoever started it


if __name__ == "__main__":
    main()
