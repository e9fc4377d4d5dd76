"""Forecast of a run's time and size by a short run of the same kind with the same simulators.

The probe flies, encodes, labels, commits, assembles and validates short scenes for each simulator and town in a temporary
folder, with all simulators at the same time. The last scene counts: it flies while the previous one is labelled, like almost
every scene of a run.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from uavsim.capture.client_events import ClientEvent, SampleTaken
from uavsim.config.backends import backend_of
from uavsim.errors import InputError
from uavsim.files.scratch import scratch_folder
from uavsim.on_top import ON_TOP
from uavsim.plan.numbering import as_text
from uavsim.run import finish, stages
from uavsim.run.context import opened, prepared
from uavsim.run.job import Job, SceneRef
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.run.stages import RunContext
from uavsim.simulate.draw_schedule import DrawSchedule
from uavsim.store.ledger import read_ledger
from uavsim.store.places import open_output
from uavsim.terminal import Screen, count, counts, duration, size, write_out
from uavsim.typing import JsonDict

_SAMPLES = 4
_FIRST_FLIGHTS = 3  # of each simulator in the first town: one loads the map, one is labelled while the last one flies
_FLIGHTS = 2  # in each further town: one loads the map and is labelled while the other one flies
_FIXED = ("maps", ".uavsim/maps", finish.SHEET, ".uavsim/logs")  # files of constant size


@dataclass(frozen=True, slots=True)
class Flight:
    """The times of a probe's scene: begin, samples, end of the flight, commit; all of one clock."""

    began_s: float
    samples_s: tuple[float, ...]
    flown_s: float
    committed_s: float

    @classmethod
    def of(cls, events: Sequence[tuple[ClientEvent, float]], *, committed_s: float) -> Flight:
        """Return the times of a scene; events are also images between samples, and ticks of open shutters."""
        samples = [(event.sample, at_s) for event, at_s in events if isinstance(event, SampleTaken)]
        last = max((sample for sample, _ in samples), default=0)
        return cls(
            began_s=events[0][1],
            samples_s=tuple(min(at_s for sample, at_s in samples if sample >= number) for number in range(1, last + 1)),
            flown_s=events[-1][1],
            committed_s=committed_s,
        )


@dataclass(frozen=True, slots=True)
class TownProbe:
    """The measurements in one town.

    Attributes:
        first: flights that load the town.
        later: flights during the labelling of earlier ones.
    """

    first: tuple[Flight, ...]
    later: tuple[Flight, ...]

    @property
    def sample_s(self) -> float:
        """Median time between two samples: ticks, images, encoding and writing, with all simulators at work."""
        flights = self.later or self.first
        steps = [b - a for flight in flights for a, b in zip(flight.samples_s, flight.samples_s[1:], strict=False)]
        return statistics.median(steps) if steps else 0.0

    def beside_samples_s(self, flights: Sequence[Flight]) -> float:
        """Return the median time of a scene without its samples: map, traffic, warm-up, last files."""
        spans = [f.flown_s - f.began_s - len(f.samples_s) * self.sample_s for f in flights]
        return max(statistics.median(spans), 0.0) if spans else 0.0

    @property
    def after_s(self) -> float:
        """Median time per sample of labels and commit; the next scene flies meanwhile, except after the last."""
        return statistics.median((f.committed_s - f.flown_s) / len(f.samples_s) for f in (*self.first, *self.later))


@dataclass(frozen=True, slots=True)
class FinishProbe:
    """The time of tables, contact sheet and validation: constant part, and part per sample."""

    once_s: float
    sample_s: float

    def seconds(self, samples: int) -> float:
        """Return the time for a number of samples."""
        return self.once_s + samples * self.sample_s


@dataclass(frozen=True, slots=True)
class Measured:
    """The times of one short run.

    Attributes:
        start_s: start of simulators and clients.
        towns: measurements by town.
        finish: tables, contact sheet, validation.
        bytes_per_sample: on disk.
        bytes_once: on disk, independent of the samples.
        probe_s: duration of the short run.
    """

    start_s: float
    towns: dict[str, TownProbe]
    finish: FinishProbe
    bytes_per_sample: float
    bytes_once: float
    probe_s: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected time and size of a run.

    Attributes:
        scenes: scenes to fly.
        samples: samples of these scenes.
        simulators: number of simulators at the same time.
        seconds: wall time of the run.
        simulator_s: sum of the simulators' times.
        finish_s: part of ``seconds`` for tables and validation.
        size_bytes: size of the files.
        images: numbers of stored images of all modalities, and of images for settling; zeros with AirSim's cameras.
        sample_s: measured time per sample by town.
        probe_s: duration of the measurement.
    """

    scenes: int
    samples: int
    simulators: int
    seconds: float
    simulator_s: float
    finish_s: float
    size_bytes: float
    images: tuple[int, int] = (0, 0)
    sample_s: dict[str, float] = field(default_factory=dict)
    probe_s: float = 0.0

    @property
    def text(self) -> str:
        """Printed summary."""
        return (
            f"{counts(scene=self.scenes, sample=self.samples)} with {count(self.simulators, 'simulator')}: about "
            f"{duration(self.seconds)}, {duration(self.simulator_s)} of simulators, {size(self.size_bytes)}"
            + (f", {self.images[0]:,} images and {self.images[1]:,} drawn to settle" if self.images[1] else "")
        )

    def as_json(self) -> JsonDict:
        """Return the forecast as JSON values."""
        return {
            "scenes": self.scenes,
            "samples": self.samples,
            "simulators": self.simulators,
            "seconds": round(self.seconds, 1),
            "finish_s": round(self.finish_s, 1),
            "simulator_hours": round(self.simulator_s / 3600, 4),
            "size_bytes": round(self.size_bytes),
            "images_kept": self.images[0],
            "images_settling": self.images[1],
            "sample_s": {town: round(value, 3) for town, value in self.sample_s.items()},
            "probe_s": round(self.probe_s, 1),
        }


def forecast_of(request: Request, *, console: Screen) -> Forecast:
    """Forecast the rest of a run by a short run of the same kind.

    Args:
        request: the run; committed scenes are not counted.
        console: shows the progress of the measurement.

    Raises:
        InputError: the request is invalid, or all scenes are committed.
        SystemFailure: the simulators fail.
    """
    job = resolve(request, ON_TOP)
    done = {name for name, e in read_ledger(open_output(request.out)).items() if e.state == "committed"}
    waiting = [scene for scene in job.scenes if request.force or scene.name not in done]
    if not waiting:
        raise InputError(f"{request.out}: all requested scenes are committed; nothing is left to forecast")
    slots = len(request.run_config().simulators)
    probed = sum(map(len, _probed(waiting, slots=slots)))
    console.print(f"measuring: {count(probed, 'short scene')} in {count(len({s.town for s in waiting}), 'town')}")
    return predicted(job, waiting, _measure(request, waiting, slots=slots, console=console), simulators=slots)


def show_forecast(request: Request, *, as_json: bool) -> None:
    """Print the forecast of a run, for ``uavsim plan --forecast``."""
    found = forecast_of(request, console=Screen(stderr=True))
    if as_json:
        write_out(json.dumps(found.as_json()))
        return
    screen = Screen()
    screen.print(found.text)
    for name, seconds in found.sample_s.items():
        screen.print(f"  {name}: {seconds:.2f} s a sample on each simulator")
    screen.print(f"measured in {duration(found.probe_s)}")


def predicted(job: Job, waiting: Sequence[SceneRef], measured: Measured, *, simulators: int) -> Forecast:
    """Extrapolate the measurements to all scenes: towns in sequence, scenes in parallel."""
    seconds = measured.start_s
    for town, probe in measured.towns.items():
        count = sum(scene.town == town for scene in waiting)
        at_work = min(simulators, count)
        scene_s = job.samples * probe.sample_s + probe.beside_samples_s(probe.later or probe.first)
        load_s = max(probe.beside_samples_s(probe.first) - probe.beside_samples_s(probe.later or probe.first), 0.0)
        seconds += load_s + -(-count // at_work) * scene_s + job.samples * probe.after_s
    samples = len(waiting) * job.samples
    finish_s = measured.finish.seconds(samples)
    plan = job.plan_of(waiting[0].name)
    of_a_scene = DrawSchedule(plan).totals if backend_of(plan.topology).sensors_from == "carla" else (0, 0)
    return Forecast(
        scenes=len(waiting),
        samples=samples,
        simulators=simulators,
        seconds=seconds + finish_s,
        finish_s=finish_s,
        simulator_s=seconds * simulators,
        size_bytes=measured.bytes_once + samples * measured.bytes_per_sample,
        images=(len(waiting) * of_a_scene[0], len(waiting) * of_a_scene[1]),
        sample_s={town: probe.sample_s for town, probe in measured.towns.items()},
        probe_s=measured.probe_s,
    )


def _measure(request: Request, waiting: Sequence[SceneRef], *, slots: int, console: Screen) -> Measured:
    numbers = [scene.index for scenes in _probed(waiting, slots=slots) for scene in scenes]
    planned = len(waiting) * resolve(request, ON_TOP).samples
    began = time.monotonic()
    with scratch_folder("uavsim-forecast-") as folder:
        probe = request.model_copy(
            update={"out": str(folder), "samples": _SAMPLES, "scenes": as_text(sorted(numbers)), "force": False}
        )
        with opened(prepared(probe, ON_TOP), console=console) as context:
            start_s = time.monotonic() - began
            ends = _Ends(context, planned=planned)
            towns = {}
            for town in context.job.towns:
                names = [scene.name for scene in context.job.scenes_of(town)]
                if ends.spans_s:
                    flights = _fly(context, names)
                    towns[town] = TownProbe(flights[:slots], flights[slots:])
                    continue
                first = _fly(context, names[:slots])
                for _ in range(2):  # the first measurement includes imports
                    ends.measure(samples=len(first) * _SAMPLES)
                later = _fly(context, names[slots:])
                towns[town] = TownProbe(first, later[slots:] or later)
            samples = len(context.job.scenes) * _SAMPLES
            ends.measure(samples=samples)
            once, by_sample = _sizes(context.output.root)
        return Measured(start_s, towns, ends.probe(), by_sample / samples, once, probe_s=time.monotonic() - began)


class _Ends:
    """Measures tables and validation, like the end of a run, for two sizes of the dataset.

    Args:
        context: context of the probe.
        planned: samples of the run: the validation of large datasets does not decode every image.
    """

    def __init__(self, context: RunContext, *, planned: int) -> None:
        self._context, self._planned = context, planned
        self.spans_s: list[tuple[int, float]] = []

    def measure(self, *, samples: int) -> None:
        """Measure once, with a number of samples in the dataset."""
        root, request = self._context.output.root, self._context.request
        began = time.monotonic()
        versions = finish.assemble_tables(self._context.output)
        finish.sheet(root)
        if request.check:
            table = sum((root / version / "sample_data.json").stat().st_size for version in versions)
            finish.validate(root, pixels=finish.decodes(table * self._planned / samples, requested=request.pixels))
        self.spans_s.append((samples, time.monotonic() - began))

    def probe(self) -> FinishProbe:
        """Fit a line through the two sizes; the first measurement gives the constant part."""
        (_, first_s), (few, few_s), (many, many_s) = self.spans_s
        sample_s = many_s / many
        if many > few:
            sample_s = min(max((many_s - few_s) / (many - few), 0.0), sample_s)
        return FinishProbe(once_s=max(first_s - few * sample_s, 0.0), sample_s=sample_s)


def _probed(waiting: Sequence[SceneRef], *, slots: int) -> list[list[SceneRef]]:
    """Return the scenes of the probe by town."""
    towns = _by_town(waiting).values()
    return [_spread(scenes, slots * (_FLIGHTS if number else _FIRST_FLIGHTS)) for number, scenes in enumerate(towns)]


def _by_town(scenes: Sequence[SceneRef]) -> dict[str, list[SceneRef]]:
    towns: dict[str, list[SceneRef]] = {}
    for scene in scenes:
        towns.setdefault(scene.town, []).append(scene)
    return towns


def _spread(scenes: Sequence[SceneRef], count: int) -> list[SceneRef]:
    """Return evenly spaced scenes: weather and routes vary with the number."""
    count = min(count, len(scenes))
    return [scenes[k * len(scenes) // count] for k in range(count)]


def _fly(context: RunContext, names: Sequence[str]) -> tuple[Flight, ...]:
    """Fly short scenes with all simulators at the same time, and return their times."""
    events: dict[str, list[tuple[ClientEvent, float]]] = {name: [] for name in names}

    def watch(scene: str, event: ClientEvent) -> None:
        if scene in events:
            events[scene].append((event, time.monotonic()))

    def fly(scene: str) -> Flight:
        stages.fly_scene(context, scene)
        return Flight.of(events[scene], committed_s=time.monotonic())

    context.progress.watchers.append(watch)
    with ThreadPoolExecutor(context.workers) as threads:
        return tuple(threads.map(fly, events))


def _sizes(root: Path) -> tuple[float, float]:
    """Return the size of the constant files, and that of the files that grow with the samples, bytes."""
    once = by_sample = 0
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            name = path.relative_to(root).as_posix()
            if name.startswith(_FIXED):
                once += path.stat().st_size
            else:
                by_sample += path.stat().st_size
    return float(once), float(by_sample)
