"""Check Traffic Manager cars in every town of the headless simulator: all move, none overlap, all keep their lane.

``scripts/trial town-traffic [--towns Town01 ...] [--maps FOLDER] [--cars 100] [--ticks 1000]`` prints a table and exits with 4
where a town breaks the law: every car moves, no two boxes overlap for over a second, and the 99th percentile of the
distance to the lane's middle, outside junctions and lane changes, is under 0.6 m. The table also gives the lateral
acceleration in m/s2, outside and inside junctions, as 99th percentile and maximum; where it is over 8, the town's line
names the worst places. Growth is of resident memory, last quarter to second:
``--towns Town10HD --cars 200 --ticks 20000`` is a soak. The last columns are seconds until the simulator listened and its
resident memory then. Each town has a simulator and a client of its own.
``PORT --cars N --ticks N`` are the arguments of the process that is a town's client.
"""

import argparse
import json
import os
import random
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final, cast

import carla
import numpy as np
import numpy.typing as npt
import psutil
from scipy.spatial import cKDTree

from tools.bench import in_own_process, simulator

TOWNS = ("Town01", "Town02", "Town03", "Town04", "Town05", "Town06", "Town07", "Town10HD")
MOVING_MPS = 0.5
MOVED_M = 2.0  # least path of a moving car
LANE_P99_M = 0.6
LATERAL_MPS2 = 8.0  # limit of tyres
CLIENT_TIMEOUT_S = 6 * 3600
STEP_S = 0.05
SEED = 7
LASTING_S: Final = 1.0
LANE_EVERY: Final = 20  # ticks between two lane measurements
CHANGING_S: Final = 3.0  # a measurement within this time of another lane counts as a lane change
SHRINK_M: Final = 0.05  # touching bumpers are no overlap
REACH_TICKS: Final = 2  # to either side: a single tick's wobble of 1 mm is 0.4 m/s2 at 0.05 s
COLUMNS = {
    "cars": "cars",
    "moved": "moved",
    "lasting": "lasting overlaps",
    "p99": "lane p99 m",
    "moving": "moving share",
    "late": "late",
    "road_p99": "lateral p99",
    "road_max": "max",
    "junction_p99": "in junctions p99",
    "junction_max": "max",
    "removed": "removed",
    "rate": "ticks/s",
    "stood": "stood longest s",
    "server_growth": "server growth",
    "client_growth": "client growth",
    "load_s": "load s",
    "load_mb": "load MB",
}


def main() -> int:
    """Run all towns and print the table, or run as the client of one town."""
    parser = argparse.ArgumentParser(prog="scripts/trial town-traffic", description=__doc__)
    parser.add_argument("port", nargs="?", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--server-pid", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--towns", nargs="+", default=list(TOWNS))
    parser.add_argument("--maps", type=Path, help="a folder of OpenDRIVE files that --towns may name too")
    parser.add_argument("--cars", type=int, default=100)
    parser.add_argument("--ticks", type=int, default=1000)
    options = parser.parse_args()
    if options.port:
        _drive(options.port, options.server_pid, options.cars, options.ticks)
    _print(("town", *COLUMNS.values()))
    broken = 0
    for town in options.towns:
        row = _town(town, options)
        lawful = row["moved"] == row["cars"] and not row["lasting"] and row["p99"] < LANE_P99_M
        broken += not lawful
        figures = [f"{row[name]:.3g}" if isinstance(row[name], float) else str(row[name]) for name in COLUMNS]
        _print((town, *figures, *([] if lawful else [f"breaks the law {row['worst']}"]), row["pulls"]))
    return 4 if broken else 0


def _print(cells: tuple[str, ...]) -> None:
    sys.stdout.write(" | ".join(f"{cell:>10}" for cell in cells) + "\n")
    sys.stdout.flush()


def _town(town: str, options: argparse.Namespace) -> dict[str, Any]:
    more = ("--maps", str(options.maps.resolve())) if options.maps else ()
    with simulator("--town", town, "--render", "flat", *more) as running:
        load_mb = running.rss_mb()
        counts = ("--cars", str(options.cars), "--ticks", str(options.ticks))
        words = ("town-traffic", str(running.port), "--server-pid", str(running.process.pid), *counts)
        row = in_own_process("tools.trials", *words, timeout_s=CLIENT_TIMEOUT_S)
    return row | {"load_s": running.seconds_to_listen, "load_mb": load_mb}


def _drive(port: int, server_pid: int, cars: int, ticks: int) -> None:
    """Drive, measure, and print one line of JSON."""
    traffic = Traffic(port, vehicles=cars)
    overlaps = Overlaps(traffic.half_extents(), STEP_S)
    lanes = Lanes(traffic.map, looks=ticks // LANE_EVERY + 1, vehicles=len(traffic.ids))
    first = before = traffic.poses()
    farthest, moving, memory = np.zeros(len(first)), [], []
    server, client = psutil.Process(server_pid), psutil.Process()
    stands_since, stood_ticks = np.zeros(len(first), np.int64), 0
    track, crossing = np.full((ticks, len(first), 4), np.nan), np.zeros((ticks, len(first)), bool)
    started = time.perf_counter()
    for tick in range(ticks):
        traffic.world.tick(120.0)
        poses = traffic.poses()
        overlaps.look(tick, poses)
        farthest = np.fmax(farthest, np.linalg.norm((poses - first)[:, :2], axis=1))
        present = np.isfinite(poses[:, 0])
        drives = np.linalg.norm((poses - before)[:, :2], axis=1) > MOVING_MPS * STEP_S
        moving.append(drives[present].mean())
        stands_since[drives | ~present] = tick
        stood_ticks = max(stood_ticks, tick - int(stands_since.min()))
        if tick % LANE_EVERY == 0:
            lanes.look(tick, poses)
            memory.append((server.memory_info().rss, client.memory_info().rss))
        track[tick], crossing[tick] = poses, _in_junctions(traffic.map, poses)
        before = poses
    rate = ticks / (time.perf_counter() - started)
    _, keeping = lanes.offsets(STEP_S)
    quarter, used = len(memory) // 4, np.array(memory, float)
    growth = used[-quarter:].mean(axis=0) / used[quarter : 2 * quarter].mean(axis=0)
    kinds = [vehicle.type_id for vehicle in traffic.vehicles]
    worst = [f"{kinds[a]} and {kinds[b]} at {first[a, :2].round()}" for a, b, _ in sorted(overlaps.lasting)[:3]]
    stood = [f"{kinds[k]} from {first[k].round(1).tolist()}" for k in np.flatnonzero(farthest < MOVED_M)[:6]]
    off = [f"{lane} off its middle {times} times" for lane, times in lanes.farthest(STEP_S, LANE_P99_M)]
    reported = {
        "cars": len(traffic.ids),
        "moved": int((farthest >= MOVED_M).sum()),
        "lasting": len(overlaps.lasting),
        "p99": float(np.percentile(keeping, 99)),
        "moving": float(np.mean(moving)),
        "late": float(np.mean(moving[-len(moving) // 4 :])),
        **_lateral(traffic.map, track[..., :3], crossing, STEP_S),
        "removed": int(np.isnan(before[:, 0]).sum()),
        "rate": rate,
        "stood": stood_ticks * STEP_S,
        "server_growth": float(growth[0]),
        "client_growth": float(growth[1]),
        "worst": "; ".join([*worst, *stood, *off]),
    }
    sys.stdout.write(json.dumps(reported) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors; the parent process ends the simulator


def _waypoint(world_map: carla.Map, place_m: np.ndarray) -> carla.Waypoint | None:
    """Return the lane below an (x, y, z) position; None for a removed car."""
    return world_map.get_waypoint(carla.Location(*place_m.tolist())) if np.isfinite(place_m).all() else None


def _in_junctions(world_map: carla.Map, poses: np.ndarray) -> list[bool]:
    """Return for (N, 4) poses whether they are in a junction."""
    return [bool(waypoint and waypoint.is_junction) for waypoint in (_waypoint(world_map, pose[:3]) for pose in poses)]


def _lateral(world_map: carla.Map, places_m: np.ndarray, crossing: np.ndarray, step_s: float) -> dict[str, float | str]:
    """Return statistics of the lateral acceleration of (ticks, cars, 3) positions, and the worst positions."""
    lateral = lateral_mps2(places_m[..., :2], step_s=step_s)
    reported: dict[str, float | str] = {}
    for name, among in (("road", ~crossing), ("junction", crossing)):
        finite = lateral[among & np.isfinite(lateral)]
        reported |= (
            {f"{name}_p99": float(np.percentile(finite, 99)), f"{name}_max": float(finite.max())} if finite.size else {}
        )
    worst = np.nan_to_num(lateral).max(axis=0)
    pulls = []
    for car in [int(car) for car in np.argsort(-worst)[:4] if worst[car] > LATERAL_MPS2]:
        tick = int(np.nanargmax(lateral[:, car]))
        point_m, xy_m = places_m[tick, car], places_m[tick, car, :2]
        lane, mps = _waypoint(world_map, point_m), np.linalg.norm(point_m - places_m[tick - 1, car]) / step_s
        road = f"road {lane.road_id}" if lane else "no road"
        pulls.append(f"{worst[car]:.1f} at {xy_m.round(1).tolist()} {road} {mps:.1f} m/s tick {tick}")
    return {
        **{f"{name}_{what}": 0.0 for name in ("road", "junction") for what in ("p99", "max")},
        **reported,
        "pulls": "; ".join(pulls),
    }


class Traffic:
    """Traffic Manager vehicles in the server's current world."""

    def __init__(self, port: int, *, vehicles: int) -> None:
        self.client = carla.Client("127.0.0.1", port)
        self.client.set_timeout(120.0)
        self.world = self.client.get_world()
        settings = self.world.get_settings()
        settings.synchronous_mode = True
        settings.fixed_delta_seconds = STEP_S
        self.world.apply_settings(settings)
        self.manager = self.client.get_trafficmanager(_free_port())
        self.manager.set_synchronous_mode(True)
        self.manager.set_random_device_seed(SEED)
        self.map = self.world.get_map()
        self.ids = self._spawn(vehicles, random.Random(SEED))
        self.world.tick()
        self.vehicles = cast("list[carla.Vehicle]", list(self.world.get_actors(self.ids)))
        for vehicle in self.vehicles:
            self.manager.auto_lane_change(vehicle, True)

    def _spawn(self, count: int, rng: random.Random) -> list[int]:
        """Spawn cars on the map's spawn points, then on lane centres between them."""
        kinds = [b for b in self.world.get_blueprint_library().filter("vehicle.*") if _is_car(b)]
        kinds.sort(key=lambda blueprint: blueprint.id)
        spawn_points = self.map.get_spawn_points()
        rng.shuffle(spawn_points)
        between = [w.transform for w in self.map.generate_waypoints(14.0) if not w.is_junction]
        rng.shuffle(between)
        for transform in between:
            transform.location.z += 0.5
        ids: list[int] = []
        autopilot, port = carla.command.SetAutopilot, self.manager.get_port()
        for pose in [*spawn_points, *between]:
            if len(ids) == count:
                break
            spawn = carla.command.SpawnActor(rng.choice(kinds), pose)
            (answer,) = self.client.apply_batch_sync(
                [spawn.then(autopilot(carla.command.FutureActor, True, port))], False
            )
            if not answer.error:
                ids.append(answer.actor_id)
        return ids

    def half_extents(self) -> np.ndarray:
        """(N, 3) half sizes, in the order of ``ids``."""
        boxes = [vehicle.bounding_box.extent for vehicle in self.vehicles]
        return np.array([[box.x, box.y, box.z] for box in boxes])

    def poses(self) -> np.ndarray:
        """(N, 4) x, y, z and yaw in radians in the last snapshot; nan for a vehicle that is gone."""
        snapshot = self.world.get_snapshot()
        rows = np.full((len(self.ids), 4), np.nan)
        for row, actor_id in enumerate(self.ids):
            state = snapshot.find(actor_id)
            if state is not None:
                transform = state.get_transform()
                at = transform.location
                rows[row] = (at.x, at.y, at.z, np.radians(transform.rotation.yaw))
        return rows


def _is_car(blueprint: carla.ActorBlueprint) -> bool:
    return bool(blueprint.has_attribute("base_type") and blueprint.get_attribute("base_type").as_str() == "car")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Overlaps:
    """Counter of pairs of boxes that overlap for over a second."""

    def __init__(self, half: np.ndarray, step_s: float) -> None:
        self._half = half - np.array([SHRINK_M, SHRINK_M, 0.0])
        self._lasting_ticks = round(LASTING_S / step_s)
        self._since: dict[tuple[int, int], int] = {}
        self.lasting: dict[tuple[int, int, int], int] = {}  # (one, other, first tick) -> ticks

    def look(self, tick: int, poses: np.ndarray) -> None:
        """Add (N, 4) poses of one tick."""
        pairs = {(int(a), int(b)) for a, b in overlapping(poses[:, :3], poses[:, 3], self._half)}
        self._since = {pair: self._since.get(pair, tick) for pair in pairs}
        for (one, other), first in self._since.items():
            if tick - first >= self._lasting_ticks:
                self.lasting[one, other, first] = tick - first


class Lanes:
    """Distances from lane centres, with the lane of each vehicle."""

    def __init__(self, world_map: carla.Map, *, looks: int, vehicles: int) -> None:
        self._map = world_map
        self._ticks = np.zeros(looks, np.int64)
        self._offset_m = np.full((looks, vehicles), np.nan)  # preallocated, because memory is measured
        self._road = np.zeros((looks, vehicles), np.int64)
        self._lane = np.zeros((looks, vehicles), np.int64)
        self._looks = 0

    def look(self, tick: int, poses: np.ndarray) -> None:
        """Measure (N, 4) poses of one tick against the map's lanes."""
        at = self._looks
        self._ticks[at], self._looks = tick, at + 1
        for row, (x, y, z, _) in enumerate(poses.tolist()):
            waypoint = self._map.get_waypoint(carla.Location(x, y, z)) if x == x else None
            if waypoint is None or waypoint.is_junction:
                continue
            lane = waypoint.transform
            yaw = np.radians(lane.rotation.yaw)
            self._offset_m[at, row] = abs(-(x - lane.location.x) * np.sin(yaw) + (y - lane.location.y) * np.cos(yaw))
            self._road[at, row], self._lane[at, row] = waypoint.road_id, waypoint.lane_id

    def offsets(self, step_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (N,) all offsets, metres, and (M,) those not within ``CHANGING_S`` of a lane change on the same road."""
        offset = self._offset_m[: self._looks]
        return offset[np.isfinite(offset)], offset[self._keeping(step_s)]

    def farthest(self, step_s: float, beyond_m: float) -> list[tuple[str, int]]:
        """Return the lanes ("road 3 lane -1") with larger offsets outside lane changes, and their counts."""
        far = self._keeping(step_s) & (self._offset_m[: self._looks] > beyond_m)
        lanes = zip(self._road[: self._looks][far].tolist(), self._lane[: self._looks][far].tolist(), strict=True)
        return Counter(f"road {road} lane {lane}" for road, lane in lanes).most_common(6)

    def _keeping(self, step_s: float) -> np.ndarray:
        """Return (looks, vehicles) bool: the offset is known, and not within ``CHANGING_S`` of a lane change."""
        road, lane = self._road[: self._looks], self._lane[: self._looks]
        known = np.isfinite(self._offset_m[: self._looks])
        changed = np.zeros_like(known)
        changed[1:] = known[1:] & known[:-1] & (road[1:] == road[:-1]) & (lane[1:] != lane[:-1])
        reach = int(np.ceil(CHANGING_S / step_s / LANE_EVERY))
        near = np.zeros_like(known)
        for shift in range(-reach, reach + 1):
            lo, hi = max(0, shift), min(len(known), len(known) + shift)
            near[lo:hi] |= changed[lo - shift : hi - shift]
        valid: np.ndarray = known & ~near
        return valid


def overlapping(places: np.ndarray, yaws: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return (P, 2) pairs of rows with overlapping upright boxes.

    Args:
        places: (N, 3) centres, metres; rows with nan never overlap.
        yaws: (N,) radians.
        half: (N, 3) half length, width, height, metres.
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


def lateral_mps2(
    places_m: npt.NDArray[np.floating], *, step_s: float, least_mps: float = 1.0
) -> npt.NDArray[np.float64]:
    """Return the lateral acceleration of each car: speed times yaw rate of its course.

    Args:
        places_m: (ticks, cars, 2) positions in the plane; nan for a removed car.
        step_s: duration of a tick.
        least_mps: slower cars have no defined course.

    Returns:
        (ticks, cars) magnitudes; nan at both ends of the drive, for removed cars and for slower cars.
    """
    lateral = np.full(places_m.shape[:2], np.nan)
    if len(places_m) <= 2 * REACH_TICKS:
        return lateral
    reach_s = REACH_TICKS * step_s
    before = (places_m[REACH_TICKS:-REACH_TICKS] - places_m[: -2 * REACH_TICKS]) / reach_s
    after = (places_m[2 * REACH_TICKS :] - places_m[REACH_TICKS:-REACH_TICKS]) / reach_s
    course = (before + after) / 2
    speed_mps = np.linalg.norm(course, axis=-1)
    across = np.abs(course[..., 0] * (after - before)[..., 1] - course[..., 1] * (after - before)[..., 0])
    with np.errstate(invalid="ignore", divide="ignore"):
        lateral[REACH_TICKS:-REACH_TICKS] = np.where(speed_mps >= least_mps, across / reach_s / speed_mps, np.nan)
    return lateral
