"""Traffic Manager cars in every town of the headless simulator: all move, none overlap, lanes are kept.

``scripts/trial town-traffic [--towns Town01 ...] [--maps FOLDER] [--cars 100] [--ticks 1000]`` prints a table and exits with 4
where a town breaks the law: every car moves, no two boxes overlap for over a second, and the 99th percentile of the
distance to the lane's middle, outside junctions and lane changes, is under 0.6 m. The table also gives the lateral
acceleration in m/s2, outside and inside junctions, as 99th percentile and maximum; where it is over 8, the town's line
names the worst places. "a perfect car's p99" is what a car without tyres keeps that obeys the Traffic Manager's rules
(``perfect_car``), beside it that of the cars at the same looks, and by how much the rules missed the steering that it sent.
Growth is of resident memory, last quarter to second:
``--towns Town10HD --cars 200 --ticks 20000`` is a soak. The last columns are seconds until the simulator listened and its
resident memory then. Each town has a simulator and a client of its own.
``PORT --cars N --ticks N`` are the arguments of the process that is a town's client.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tools.bench.rows import simulator
from tools.common import ROOT
from tools.trials.perfect_car import compare
from tools.trials.traffic_law import LANE_EVERY, Lanes, Overlaps, lateral_mps2

TOWNS = ("Town01", "Town02", "Town03", "Town04", "Town05", "Town06", "Town07", "Town10HD")
MOVING_MPS = 0.5
MOVED_M = 2.0  # a car that came this far moved
LANE_P99_M = 0.6
LATERAL_MPS2 = 8.0  # beyond what tyres hold: a car that pulls more does not drive as one
CLIENT_TIMEOUT_S = 6 * 3600
COLUMNS = {
    "cars": "cars",
    "moved": "moved",
    "lasting": "lasting overlaps",
    "p99": "lane p99 m",
    "kept": "no lane change p99",
    "perfect": "a perfect car's p99",
    "replica": "its steering's error",
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
    """Run all towns and print the table; or be the client of one."""
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
        figures = (
            str(running.port),
            "--server-pid",
            str(running.process.pid),
            "--cars",
            str(options.cars),
            "--ticks",
            str(options.ticks),
        )
        command = [sys.executable, "-m", "tools.trials.program", "tools.trials.town_traffic", *figures]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=CLIENT_TIMEOUT_S, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{town}: the client ended with code {done.returncode}: {last}")
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return row | {"load_s": running.seconds_to_listen, "load_mb": load_mb}


def _drive(port: int, server_pid: int, cars: int, ticks: int) -> None:
    """Drive, look, print one line of JSON, and end."""
    from tools.bench.traffic import STEP_S, Traffic

    traffic = Traffic(port, vehicles=cars)
    overlaps = Overlaps(traffic.half_extents(), STEP_S)
    lanes = Lanes(traffic.map, looks=ticks // LANE_EVERY + 1, vehicles=len(traffic.ids))
    first = before = traffic.poses()
    farthest, moving, memory = np.zeros(len(first)), [], []
    server, own = psutil.Process(server_pid), psutil.Process()
    stands_since, stood_ticks = np.zeros(len(first), np.int64), 0
    track, crossing = np.full((ticks, len(first), 4), np.nan), np.zeros((ticks, len(first)), bool)
    steer = np.full((ticks, len(first)), np.nan)
    started = time.perf_counter()
    for tick in range(ticks):
        traffic.world.tick(120.0)
        poses = traffic.poses()
        overlaps.look(tick, poses)
        farthest = np.fmax(farthest, np.linalg.norm((poses - first)[:, :2], axis=1))
        there, drives = np.isfinite(poses[:, 0]), np.linalg.norm((poses - before)[:, :2], axis=1) > MOVING_MPS * STEP_S
        moving.append(drives[there].mean())
        stands_since[drives | ~there] = tick
        stood_ticks = max(stood_ticks, tick - int(stands_since.min()))
        if tick % LANE_EVERY == 0:
            lanes.look(tick, poses)
            memory.append((server.memory_info().rss, own.memory_info().rss))
        track[tick], crossing[tick] = poses, _in_junctions(traffic.map, poses)
        steer[tick, there] = [
            vehicle.get_control().steer for vehicle, alive in zip(traffic.vehicles, there, strict=True) if alive
        ]
        before = poses
    rate = ticks / (time.perf_counter() - started)
    _, keeping = lanes.offsets(STEP_S)
    compared = compare(traffic.map, track, steer, 2 * traffic.half_extents()[:, 0], STEP_S)
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
        "kept": float(np.percentile(compared.cars_m, 99)),
        "perfect": float(np.percentile(compared.perfect_m, 99)),
        "replica": float(np.median(compared.steering)),
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
    os._exit(0)  # libcarla's threads may hang in destructors; the simulator is ended by whoever started it


def _waypoint(world_map: Any, place_m: np.ndarray) -> Any:
    """Lane under an (x, y, z) place; None for a car that is gone."""
    import carla

    return world_map.get_waypoint(carla.Location(*place_m.tolist())) if np.isfinite(place_m).all() else None


def _in_junctions(world_map: Any, poses: np.ndarray) -> list[bool]:
    """Return which of (N, 4) poses are in a junction."""
    return [bool(waypoint and waypoint.is_junction) for waypoint in (_waypoint(world_map, pose[:3]) for pose in poses)]


def _lateral(world_map: Any, places_m: np.ndarray, crossing: np.ndarray, step_s: float) -> dict[str, float | str]:
    """Figures of the lateral acceleration of (ticks, cars, 3) places, and where the worst of each car was."""
    lateral = lateral_mps2(places_m[..., :2], step_s=step_s)
    reported: dict[str, float | str] = {}
    for name, among in (("road", ~crossing), ("junction", crossing)):
        seen = lateral[among & np.isfinite(lateral)]
        reported |= (
            {f"{name}_p99": float(np.percentile(seen, 99)), f"{name}_max": float(seen.max())} if seen.size else {}
        )
    worst = np.nan_to_num(lateral).max(axis=0)
    pulls = []
    for car in [int(car) for car in np.argsort(-worst)[:4] if worst[car] > LATERAL_MPS2]:
        tick = int(np.nanargmax(lateral[:, car]))
        place = places_m[tick, car]
        lane, mps = _waypoint(world_map, place), np.linalg.norm(place - places_m[tick - 1, car]) / step_s
        pulls.append(f"{worst[car]:.1f} at {place[:2].round(1).tolist()} road {lane.road_id} {mps:.1f} m/s tick {tick}")
    return {
        **{f"{name}_{what}": 0.0 for name in ("road", "junction") for what in ("p99", "max")},
        **reported,
        "pulls": "; ".join(pulls),
    }
