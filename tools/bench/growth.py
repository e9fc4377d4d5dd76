"""Growth of an image's cost with drones, cameras and cars, of a scene's with scenes, and of memory with all of them.

Of each swarm the same flight is flown twice, with few captures and with many: ticks, start-up and traffic are in both, and
what is between them is what images cost, in processor seconds. Images are flat and small, except for their number: what a
capture costs whatever its images are, weighs as much as it can. Drones are also counted with images as UAV3D has them.
"""

from __future__ import annotations

import itertools
import os
import resource
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

import psutil
import yaml

from tools.bench.cost import watched
from tools.bench.frames import SIZE_PX
from tools.bench.rows import Row
from tools.common.small_dataset import write_plans
from uavsim.flows.server import prefect_server

__all__ = ["Cost", "Swarm", "per_scene", "rows", "spread", "write_swarm"]

DRONES, CAMERAS, VEHICLES = (1, 5, 10, 20), (1, 3, 5), (50, 200, 400)
SCENES: Final = (1, 10, 100)
SAMPLES: Final = 8  # of each of these scenes
TICKS: Final = 480  # of every flight, divided evenly by all numbers of captures
PAIRS: Final = 2400  # of image and mask that the many captures bring, about
DRAWN_PAIRS: Final = 600
STEP_S: Final = 0.05
TURNS: Final = 3
_ANGLES: Final = {"BOTTOM": (-90, 0), "FRONT": (-45, 0), "BACK": (-45, 180), "LEFT": (-45, -90), "RIGHT": (-45, 90)}


@dataclass(frozen=True, slots=True)
class Swarm:
    """The swarm to fly."""

    drones: int = 5
    cameras: int = 5
    vehicles: int = 15
    is_drawn: bool = False

    @property
    def size_px(self) -> tuple[int, int]:
        """Of the images."""
        return SIZE_PX if self.is_drawn else (320, 180)

    @property
    def intervals(self) -> int:
        """Between the many captures: a divisor of the ticks that brings about the wanted images."""
        wanted = (DRAWN_PAIRS if self.is_drawn else PAIRS) / (self.drones * self.cameras)
        return min((n for n in range(1, TICKS + 1) if TICKS % n == 0), key=lambda n: abs(n - wanted))


def write_swarm(work: Path, swarm: Swarm, *, intervals: int) -> str:
    """Write rig, formation and dataset where a run with this working folder finds them; returns the dataset's name."""
    name = f"bench-{intervals}"
    names = list(_ANGLES)[: swarm.cameras]
    cameras = {name: {"pitch_deg": _ANGLES[name][0], "yaw_deg": _ANGLES[name][1]} for name in names}
    texts = {
        "rigs/bench": {
            "width_px": swarm.size_px[0],
            "height_px": swarm.size_px[1],
            "fov_deg": 90,
            "sensors": ["rgb", "instance"],
            "cameras": cameras,
        },
        "formations/bench": {"drones": swarm.drones, "shape": "grid", "spacing_m": 6, "altitude_m": 60},
        f"datasets/{name}": {
            "version": "v1.0-mini",
            "towns": {"Town10HD": {"scenes": 1, "routes": ["town10_row3_col3"]}},
            "samples": intervals + 1,
            "keyframe_s": TICKS // intervals * STEP_S,
            "warmup_s": 0.5,
            "formation": "bench",
            "rig": "bench",
            "weather": "clear_noon",
            "traffic": {"vehicles": swarm.vehicles},
            "splits": {"rule": "uav3d"},
        },
    }
    for file, value in texts.items():
        path = work / "flight_plans" / f"{file}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(value))
    return name


def spread(values: Sequence[float]) -> float:
    """Return by how much the largest is above the smallest, as a share."""
    return max(values) / min(values) - 1.0


def per_scene(seconds: Mapping[int, float]) -> dict[int, float]:
    """Return what a scene more costs between each number of scenes and the one before; start-up is in neither."""
    counts = sorted(seconds)
    return {many: (seconds[many] - seconds[few]) / (many - few) for few, many in itertools.pairwise(counts)}


def rows() -> Iterator[Row]:
    """Fly all of them."""
    swarms = {
        "drones": [Swarm(drones=n) for n in DRONES],
        "cameras": [Swarm(cameras=n) for n in CAMERAS],
        "vehicles": [Swarm(vehicles=n) for n in VEHICLES],
        "drones_drawn": [Swarm(drones=n, is_drawn=True) for n in DRONES],
    }
    reported = _measured(dict.fromkeys(swarm for group in swarms.values() for swarm in group))
    for what, group in swarms.items():
        yield from _images(what, {swarm: reported[swarm] for swarm in group})
    yield from _scenes()


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run."""

    cpu_s: float
    peak_mb: float

    def least(self, other: Cost) -> Cost:
        """Return the less of each: other work on the machine makes processor seconds longer, never shorter."""
        return Cost(min(self.cpu_s, other.cpu_s), min(self.peak_mb, other.peak_mb))


def _measured(swarms: Iterable[Swarm]) -> dict[Swarm, tuple[Cost, Cost]]:
    """Fly each swarm with few captures and with many, all of them in turn; the least of the turns."""
    reported: dict[Swarm, tuple[Cost, Cost]] = {}
    every = list(swarms)
    for _ in range(TURNS):
        for swarm in every:
            few, many = _flown(swarm, 1), _flown(swarm, swarm.intervals)
            before = reported.get(swarm, (few, many))
            reported[swarm] = (few.least(before[0]), many.least(before[1]))
    return reported


def _images(what: str, reported: Mapping[Swarm, tuple[Cost, Cost]]) -> Iterator[Row]:
    costs = []
    for swarm, (few, many) in reported.items():
        count = getattr(swarm, what.removesuffix("_drawn"))
        width, height = swarm.size_px
        pairs = (swarm.intervals - 1) * swarm.drones * swarm.cameras
        how = (
            f"processor time of all processes, {swarm.intervals + 1} captures less 2 on one flight of {TICKS} ticks, {pairs} "
            f"pairs of {width}x{height}, {'drawn' if swarm.is_drawn else 'flat'}: {swarm.drones} drones, "
            f"{swarm.cameras} cameras, {swarm.vehicles} cars asked for; "
            f"least of {TURNS} turns"
        )
        costs.append(1e3 * (many.cpu_s - few.cpu_s) / pairs)
        yield Row(f"growth_cpu_ms_per_pair_{count}_{what}", costs[-1], "ms", how)
        rest = f"the flight with 2 captures whole: start-up and {TICKS} ticks; {swarm.drones} drones, {swarm.vehicles} cars"
        yield Row(f"growth_cpu_s_of_flight_{count}_{what}", few.cpu_s, "s", rest)
        yield Row(
            f"growth_peak_mb_{count}_{what}", many.peak_mb, "MB", f"most memory of all processes together (PSS): {how}"
        )
    numbers = ", ".join(str(getattr(swarm, what.removesuffix("_drawn"))) for swarm in reported)
    yield Row(
        f"growth_spread_{what}", spread(costs), "share", f"largest above smallest cost of a pair, {numbers} {what}"
    )


def _flown(swarm: Swarm, intervals: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        dataset = write_swarm(work, swarm, intervals=intervals)
        return _generated(work, ("--dataset", dataset), render="full" if swarm.is_drawn else "flat")


def _generated(work: Path, words: Sequence[str], *, render: str = "flat") -> Cost:
    """Generate with one simulator that draws so, and is not restarted."""
    simulator = {"kind": "mock", "arguments": ["--render", render], "recycle_scenes": 1000}
    (work / "run.yaml").write_text(yaml.safe_dump({"simulators": [simulator]}))
    before = _used_s()
    command = ("generate", *words, "--no-check", "--run", str(work / "run.yaml"), "--out", str(work / "out"))
    _, family = watched(command, work / "log", cwd=work)
    return Cost(_used_s() - before, family.peak_mb)


def _used_s() -> float:
    """Return the processor seconds of all that was begun here: what has ended, and what runs on, as Prefect's server."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return ended.ru_utime + ended.ru_stime + sum(times.user + times.system for times in running)


def _scenes() -> Iterator[Row]:
    reported: dict[int, Cost] = {}
    with tempfile.TemporaryDirectory() as home, prefect_server(Path(home)) as server:
        url = {"PREFECT_API_URL": server.api, "PREFECT_API_AUTH_STRING": server.key}
        with patch.dict(os.environ, url):
            for count in (*SCENES[:-1] * (TURNS - 1), *SCENES):  # short runs, in which start-up weighs, several times
                with tempfile.TemporaryDirectory() as folder:
                    write_plans(Path(folder))
                    words = ("--dataset", "kill", "--samples", str(SAMPLES), "--scenes", f"0-{count - 1}")
                    cost = _generated(Path(folder), words)
                reported[count] = cost.least(reported.get(count, cost))
    how = (
        f"scenes of {SAMPLES} samples, 10 flat pairs of 160x90 each, one simulator, under one Prefect server that is there "
        f"before; least of {TURNS} turns, the longest flown once"
    )
    costs = per_scene({count: cost.cpu_s for count, cost in reported.items()})
    for count, seconds in costs.items():
        yield Row(
            f"growth_cpu_s_per_scene_to_{count}", seconds, "s", f"processor time of all processes a scene more: {how}"
        )
    for count, cost in reported.items():
        yield Row(
            f"growth_peak_mb_{count}_scenes",
            cost.peak_mb,
            "MB",
            f"most memory of all processes but the server (PSS): {how}",
        )
    yield Row(
        "growth_spread_scenes", spread(list(costs.values())), "share", f"of the cost of a scene more, {SCENES}: {how}"
    )
