"""Whether Traffic Manager traffic is the same twice: two fresh simulators, two fresh clients, one seed.

``python -m tools.bench.repeat PORT FILE --ticks N`` is one run's client; it writes the poses of every tick and prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tools.bench.rows import Row, in_own_process, simulator

VEHICLES = 200


def rows(ticks: int = 1000, town: str = "Town10HD") -> Iterator[Row]:
    """Drive the same traffic twice and compare every transform bit by bit."""
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for name in ("first.npy", "second.npy"):
            file = Path(folder) / name
            with simulator("--town", town, "--render", "flat") as running:
                in_own_process("repeat", str(running.port), str(file), "--ticks", str(ticks))
            runs.append(np.load(file))
    how = f"{VEHICLES} vehicles, {ticks} sync ticks of 0.05 s, {town}, two fresh server and client pairs, one seed"
    same = (runs[0] == runs[1]) | (np.isnan(runs[0]) & np.isnan(runs[1]))
    different = ~same.all(axis=(1, 2))
    first = int(np.argmax(different)) if different.any() else ticks
    apart_m = np.nan_to_num(np.linalg.norm((runs[0] - runs[1])[:, :, :3], axis=2), nan=0.0)
    yield Row("traffic_same_until_tick", first, "ticks", f"first tick with any bit of any transform different; {how}")
    yield Row("traffic_apart_m", float(apart_m.max()), "m", f"largest distance of one vehicle in the two runs; {how}")
    yield Row("traffic_apart_share", float((~same[-1].all(axis=1)).mean()), "share", f"vehicles, at the end; {how}")


def main() -> None:
    """Drive and write the poses."""
    from tools.bench.traffic import Traffic

    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("file", type=Path)
    parser.add_argument("--ticks", type=int, default=1000)
    options = parser.parse_args()
    traffic = Traffic(options.port, vehicles=VEHICLES)
    poses = np.full((options.ticks, len(traffic.ids), 6), np.nan)
    for tick in range(options.ticks):
        traffic.world.tick(120.0)
        snapshot = traffic.world.get_snapshot()
        for row, actor_id in enumerate(traffic.ids):
            state = snapshot.find(actor_id)
            if state is not None:
                place, turn = state.get_transform().location, state.get_transform().rotation
                poses[tick, row] = place.x, place.y, place.z, turn.pitch, turn.yaw, turn.roll
    np.save(options.file, poses)
    sys.stdout.write(json.dumps({"vehicles": len(traffic.ids)}) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors; the simulator is ended by whoever started it


if __name__ == "__main__":
    main()
