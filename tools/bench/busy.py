"""Share of a flight in which the simulated graphics card (``--render-latency``) is busy.

One scene of each profile is flown with its own rig, formation and pace. The card should only draw requested images: those that
are saved, and those in which cameras settle. The ceiling is the share if only ticks without drawing took additional time, each
as long as a tick of CARLA's client alone with the same traffic.

``python -m tools.bench.busy FILE MS ...`` is a headless simulator that appends start and end of drawing each image
(``time.monotonic``) to FILE; ``python -m tools.bench.busy tick PORT PROFILE`` measures that tick.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
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

__all__ = ["Profile", "busy_share", "idle_ticks", "record_pauses", "requested_images", "rows"]

LATENCY_MS: Final = 20
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
    Profile("aot-mini", 20),
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


def busy_share(pauses: Sequence[tuple[float, float]], *, before: int, latency_s: float) -> float:
    """Return the busy share of the card from the first image after the warm-up to the last one.

    Args:
        pauses: start and end of each image.
        before: number of images in the warm-up.
        latency_s: counted for each image, even if its pause is longer on a busy machine.
    """
    flown = sorted(pauses)[before:]
    return len(flown) * latency_s / (max(end for _, end in flown) - flown[0][0])


def rows() -> Iterator[Row]:
    """Fly one scene of each profile."""
    for profile in PROFILES:
        plan = profile.plan
        stored, early, later = requested_images(plan)
        with tempfile.TemporaryDirectory() as folder:
            pauses, tick_s = _flown(Path(folder), profile)
        drawing_s, idle = (stored + later) * LATENCY_MS / 1000, idle_ticks(plan)
        ceiling_how = f"drawing / (drawing and {idle} ticks in which the card has nothing to do)"
        yield Row(f"ceiling_{profile.name}", drawing_s / (drawing_s + idle * tick_s), "share", ceiling_how)
        yield Row(
            f"tick_{profile.name}",
            tick_s * 1000,
            "ms",
            f"median of {_TICKS} ticks of CARLA's client, Traffic Manager included",
        )
        how = (
            f"uavsim generate {' '.join(profile.words)}, --render flat, --render-latency {LATENCY_MS}: images x latency / "
            "first image's begin to last image's end, warm-up left out"
        )
        drawn = len(pauses)
        yield Row(f"busy_{profile.name}", busy_share(pauses, before=early, latency_s=LATENCY_MS / 1000), "share", how)
        drawn_how = f"images drawn a sample; {stored / plan.samples:g} are kept, {later + early} in all settle"
        yield Row(f"drawn_{profile.name}", drawn / plan.samples, "images", drawn_how)
        yield Row(f"drawn_ratio_{profile.name}", drawn / (stored + early + later), "ratio", "drawn / kept and settling")


def _flown(work: Path, profile: Profile) -> tuple[list[tuple[float, float]], float]:
    """Return start and end of each image, and the duration of a tick alone."""
    notes = work / "pauses"
    program = ("tools.bench.busy", str(notes), str(LATENCY_MS))
    with simulator("--town", "Town10HD", "--render", "flat", "--no-airsim", program=program) as running:
        words = ("generate", *profile.words, "--no-check", "--simulator", f"127.0.0.1:{running.port}")
        watched((*words, "--out", f"{work}/out"), work / "log")
        lines = [line.split() for line in notes.read_text().splitlines()]
        tick_s: float = in_own_process("tools.bench.busy", "tick", str(running.port), profile.name)["tick_s"]
    return [(float(begin), float(end)) for begin, end in lines], tick_s


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


def record_pauses(file: str) -> None:
    """Record start and end of each image of the simulated card in a file."""
    notes = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    make = GraphicsCard.make

    def noted(self: GraphicsCard) -> tuple[float, float]:
        began_s, ended_s = make(self)
        os.write(notes, f"{began_s:.6f} {ended_s:.6f}\n".encode())
        return began_s, ended_s

    setattr(GraphicsCard, "make", noted)  # noqa: B010 (mypy knows that it is a method)


if __name__ == "__main__":
    if sys.argv[1] == "tick":
        port, name = sys.argv[2:]
        plan = next(profile.plan for profile in PROFILES if profile.name == name)
        print(json.dumps({"tick_s": bare_tick_s(int(port), plan)}))
        sys.stdout.flush()
        os._exit(0)  # libcarla's threads may abort or hang a regular interpreter exit
    record_pauses(sys.argv[1])
    sys.argv[1:3] = ["--render-latency", sys.argv[2]]
    main()
