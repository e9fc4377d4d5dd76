"""Share of a flight in which the simulated graphics card (``--render-latency``) is busy.

One scene of each profile is flown with its own rig, formation and pace: by one server, and by two and three runs with a server
each that share the card. The card should only draw requested images: those that are saved, and those in which cameras settle.
The ceiling of one server is the share if only ticks without drawing took additional time, each as long as a tick of CARLA's
client alone with the same traffic.

``python -m tools.bench.busy FILE MS ...`` is a headless simulator that appends its process id, start and end of drawing each
image (``time.monotonic``) to FILE; servers with one FILE share the card. ``python -m tools.bench.busy tick PORT PROFILE``
measures that tick.
"""

import contextlib
import fcntl
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import carla
from headless_simulator.cli import main
from headless_simulator.rendering import GraphicsCard

from tools.bench import Row, in_own_process, simulator
from tools.bench.cost import watched
from uavsim.config.overrides import Overrides
from uavsim.plan.scenes import plan_scenes
from uavsim.records.plan import ScenePlan
from uavsim.simulate.draw_schedule import DrawSchedule
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.session import open_session

__all__ = ["Profile", "busy_share", "idle_ticks", "requested_images", "rows", "share_card"]

LATENCY_MS: Final = 20
SERVERS: Final = (1, 2, 3)
_LINE_BYTES: Final = 49
_WARM_TICKS, _TICKS = 20, 60


@dataclass(frozen=True, slots=True)
class Profile:
    """The first scene of a dataset.

    Attributes:
        dataset: of flight_plans.
        samples: number of samples of the scene; default: the dataset's.
        rig: replaces the dataset's.
    """

    dataset: str
    samples: int | None
    rig: str | None = None

    @property
    def name(self) -> str:
        """The dataset, and the rig if replaced."""
        return f"{self.dataset}_{self.rig}" if self.rig else self.dataset

    @property
    def words(self) -> tuple[str, ...]:
        """Options of ``uavsim generate``."""
        samples = ("--samples", str(self.samples)) if self.samples else ()
        return ("--dataset", self.dataset, "--scenes", "0", *samples, *(("--rig", self.rig) if self.rig else ()))

    @property
    def plan(self) -> ScenePlan:
        """The plan of the scene."""
        return plan_scenes(self.dataset, scenes=[0], overrides=Overrides(samples=self.samples, rig=self.rig))[0]


PROFILES: Final = (
    Profile("uav3d-mini", 8),
    Profile("clip-mini", 6),
    Profile("aot-mini", 300),
    Profile("airswarm-async", 5),
    Profile("airground-mini", 8),
    Profile("uav3d-mini", 5, rig="lenses"),
)


def requested_images(plan: ScenePlan) -> tuple[int, int, int]:
    """Return numbers of requested images: saved, settling before step 0, and settling later."""
    schedule = DrawSchedule(plan)
    stored, settling = schedule.totals
    early = sum(schedule.images(step, captured=False) for step in schedule.settling if step < 0)
    return stored, early, settling - early


def idle_ticks(plan: ScenePlan) -> int:
    """Count ticks of a flight without drawing: no camera draws in them or in the tick before."""
    schedule = DrawSchedule(plan)
    drawing = {*schedule.reading, *schedule.settling}
    return sum(not {step - 1, step} <= drawing for step in range(1, max(drawing) + 1))


def busy_share(pauses: Sequence[Sequence[tuple[float, float]]], *, before: int) -> float:
    """Return the busy share of the card while all servers fly: from the last one's first image to the first one's last image.

    Args:
        pauses: start and end of each image of each server.
        before: number of images of each server in its warm-up.
    """
    flown = [sorted(server)[before:] for server in pauses]
    begin, end = max(server[0][0] for server in flown), min(server[-1][1] for server in flown)
    drawn_s = sum(max(0.0, min(ended, end) - max(began, begin)) for server in pauses for began, ended in server)
    return drawn_s / (end - begin)


def rows() -> Iterator[Row]:
    """Fly one scene of each profile."""
    for profile in PROFILES:
        plan = profile.plan
        stored, early, later = requested_images(plan)
        for servers in SERVERS:
            with tempfile.TemporaryDirectory() as folder:
                pauses, tick_s = _flown(Path(folder), profile, servers)
            if servers == 1:
                drawing_s, idle = (stored + later) * LATENCY_MS / 1000, idle_ticks(plan)
                ceiling_how = f"drawing / (drawing and {idle} ticks in which the card has nothing to do)"
                yield Row(f"ceiling_{profile.name}", drawing_s / (drawing_s + idle * tick_s), "share", ceiling_how)
                how = f"median of {_TICKS} ticks of CARLA's client, Traffic Manager included"
                yield Row(f"tick_{profile.name}", tick_s * 1000, "ms", how)
            how = (
                f"{servers} times uavsim generate {' '.join(profile.words)}, --render flat, --render-latency {LATENCY_MS}: "
                "time of the card's images / time in which all fly, warm-up left out"
            )
            yield Row(f"busy_{profile.name}_{servers}", busy_share(pauses, before=early), "share", how)
        drawn = statistics.mean(map(len, pauses))
        drawn_how = f"images drawn a sample; {stored / plan.samples:g} are kept, {later + early} in all settle"
        yield Row(f"drawn_{profile.name}", drawn / plan.samples, "images", drawn_how)
        yield Row(f"drawn_ratio_{profile.name}", drawn / (stored + early + later), "ratio", "drawn / kept and settling")


def _flown(work: Path, profile: Profile, servers: int) -> tuple[list[list[tuple[float, float]]], float]:
    """Return start and end of each image of each server, and the duration of a tick alone."""
    notes = work / "pauses"
    program = ("tools.bench.busy", str(notes), str(LATENCY_MS))
    with contextlib.ExitStack() as stack:
        options = ("--town", "Town10HD", "--render", "flat", "--no-airsim")
        running = [stack.enter_context(simulator(*options, program=program)) for _ in range(servers)]

        def fly(k: int) -> None:
            words = ("generate", *profile.words, "--no-check", "--simulator", f"127.0.0.1:{running[k].port}")
            watched((*words, "--out", f"{work}/out{k}"), work / f"log{k}")

        with ThreadPoolExecutor(servers) as threads:
            list(threads.map(fly, range(servers)))
        lines = [line.split() for line in notes.read_text().splitlines()]
        tick_s: float = in_own_process("tools.bench.busy", "tick", str(running[0].port), profile.name)["tick_s"]
    pauses = [
        [(float(begin), float(end)) for pid, begin, end in lines if int(pid) == one.process.pid] for one in running
    ]
    return pauses, tick_s


def bare_tick_s(port: int, plan: ScenePlan) -> float:
    """Return the median duration of a tick of CARLA's client with the traffic of a plan, without sensors."""
    session = open_session("carla", {"carla": Endpoint("127.0.0.1", port)})
    session.begin_scene(plan, heartbeat=lambda _phase, _tick: None)
    world, took_s = carla.Client("127.0.0.1", port).get_world(), []
    for _ in range(_WARM_TICKS + _TICKS):
        began_s = time.perf_counter()
        world.tick()
        took_s.append(time.perf_counter() - began_s)
    session.close()
    return statistics.median(took_s[_WARM_TICKS:])


def share_card(file: str, latency_s: float) -> None:
    """Draw the images of this process on a card that all processes with this file share, and record them in it."""
    notes, lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644), threading.Lock()

    def make(_: GraphicsCard) -> tuple[float, float]:
        with lock:
            fcntl.flock(notes, fcntl.LOCK_EX)
            last = os.pread(notes, _LINE_BYTES, max(0, os.fstat(notes).st_size - _LINE_BYTES))
            began_s = max(time.monotonic(), float(last.split()[2]) if last else 0.0)
            ended_s = began_s + latency_s
            os.write(notes, f"{os.getpid():8d} {began_s:19.6f} {ended_s:19.6f}\n".encode())
            fcntl.flock(notes, fcntl.LOCK_UN)
        while (left_s := ended_s - time.monotonic()) > 0:
            time.sleep(left_s)
        return began_s, ended_s

    setattr(GraphicsCard, "make", make)  # noqa: B010 (mypy knows that it is a method)


if __name__ == "__main__":
    if sys.argv[1] == "tick":
        port, name = sys.argv[2:]
        plan = next(profile.plan for profile in PROFILES if profile.name == name)
        print(json.dumps({"tick_s": bare_tick_s(int(port), plan)}))
        sys.stdout.flush()
        os._exit(0)  # libcarla's threads may abort or hang a regular interpreter exit
    share_card(sys.argv[1], float(sys.argv[2]) / 1000)
    sys.argv[1:3] = ["--render-latency", sys.argv[2]]
    main()
