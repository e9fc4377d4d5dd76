"""Rows about the headless simulator: start, ticks with traffic, images delivered to the official client."""

import os
from collections.abc import Iterator
from pathlib import Path

from tools.bench.rows import Row, Simulator, in_own_process, simulator

TOWN = "Town10HD"
VEHICLES = 200


def start() -> Iterator[Row]:
    """Time from the process's start to its JSON line; the first start builds the town, the second reads the cache."""
    with simulator("--town", TOWN):
        pass
    seconds, cpu_s = [], []
    for _ in range(3):
        with simulator("--town", TOWN) as running:
            seconds.append(running.seconds_to_listen)
            cpu_s.append(running.cpu_s())
    yield Row("mock_start_cpu_s", sorted(cpu_s)[1], "s", f"processor time until listening, {TOWN} cached, median of 3")
    yield Row(
        "mock_start_s", sorted(seconds)[1], "s", f"process start to listening, {TOWN} cached, median of 3, {_machine()}"
    )


def ticks(count: int = 400) -> Iterator[Row]:
    """Sync ticks a second with 200 Traffic Manager vehicles and no camera."""
    with simulator("--town", TOWN, "--render", "flat") as running:
        reported = load(running, "ticks", count)
    how = f"{count} sync ticks, {reported['vehicles']} vehicles, no cameras, official client, {_machine()}"
    yield Row("tm_ticks_per_s", count / reported["wall_s"], "ticks/s", how)
    yield Row("tm_client_cpu_ms_per_tick", 1e3 * reported["client_cpu_s"] / count, "ms", how)
    yield Row("tm_server_cpu_ms_per_tick", 1e3 * reported["server_cpu_s"] / count, "ms", how)


def images(count: int = 12) -> Iterator[Row]:
    """RGB and mask pairs a second that reach the official client, 25 of each a tick, with 200 vehicles."""
    with simulator("--town", TOWN) as running:
        reported = load(running, "images", count)
    pairs = reported["images"] / 2
    how = (
        f"25 RGB + 25 instance images of 800x450 a tick moved before each of {count} ticks, {reported['vehicles']} Traffic "
        f"Manager vehicles, official client, {_machine()}"
    )
    yield Row("mock_pairs_per_s", pairs / reported["wall_s"], "pairs/s", how)
    yield Row("mock_server_cpu_ms_per_pair", 1e3 * reported["server_cpu_s"] / pairs, "ms", how)
    yield Row("mock_client_cpu_ms_per_pair", 1e3 * reported["client_cpu_s"] / pairs, "ms", how)


def load(running: Simulator, what: str, count: int, *, stages: Path | None = None) -> dict[str, float]:
    """Tick with traffic, and with cameras if ``what`` is images; ``stages`` is where the simulator writes their times."""
    pid = str(running.process.pid)
    more = ["--vehicles", str(VEHICLES), "--ticks", str(count), "--server-pid", pid]
    more += ["--stages", str(stages)] if stages else []
    return in_own_process("load", str(running.port), what, *more)


def _machine() -> str:
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, load {load:.1f}"
