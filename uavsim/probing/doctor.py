"""``uavsim doctor``: one short measured flight per town, and checks of frequent problems with their remedies."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from uavsim.annotate.scene import annotate, unlisted_vehicles
from uavsim.capture.client_events import ClientEvent, SampleTaken, SceneFlown
from uavsim.capture.recording_reader import read_recording
from uavsim.environment import python_command
from uavsim.errors import SceneVoid, TrafficStalled, UavsimError
from uavsim.files.scratch import scratch_folder
from uavsim.on_top import ON_TOP
from uavsim.probing.engine_facts import NO_MERGED, EngineFacts
from uavsim.probing.finding import Finding
from uavsim.probing.forecast import forecast_of
from uavsim.probing.graphics import cards, cards_in_flight
from uavsim.probing.listening import open_to_others
from uavsim.records.codec import pack_plan
from uavsim.records.modalities import DEPTH, INSTANCE, UNCHECKED_MASKS
from uavsim.records.plan import ScenePlan
from uavsim.run.blank_images import refuse_blank_images
from uavsim.run.context import with_swarm
from uavsim.run.job import Job
from uavsim.run.request import Request
from uavsim.run.resolve import all_scenes, installed_version, resolve
from uavsim.supervise.simulator_slot import SimulatorSlot
from uavsim.terminal import Screen, size

_PROBE_SAMPLES = 3
_SLOW_IMAGES_PER_S = 5.0
_SOFTWARE_RENDERERS = ("llvmpipe", "lavapipe", "swiftshader")
_ROOM = 1.2  # times the forecast size


@dataclass(frozen=True, slots=True)
class Flight:
    """One measured scene."""

    images_per_s: float
    ticks_per_s: float
    vehicles: str


def examine(request: Request) -> Iterator[Finding]:
    """Run all checks, and yield their findings.

    Args:
        request: the planned run; the doctor flies the first scene of each town into a temporary folder.

    Raises:
        InputError: the request is invalid.
    """
    job = resolve(request.model_copy(update={"samples": _PROBE_SAMPLES, "scenes": _first_scenes(request)}), ON_TOP)
    yield from _machine()
    yield from cards()
    yield from _masks(job.plan_of(job.scenes[0].name))
    run = request.run_config()
    flights: list[Flight] = []
    with scratch_folder("uavsim-doctor-") as temp:
        for k, config in enumerate(run.simulators):
            name = config.name or f"{config.kind}{k}"
            slot = SimulatorSlot(
                with_swarm(config, job, temp=temp),
                run=run,
                topology=job.topology,
                name=name,
                logs=temp,
                home=temp / f"home{k}",
            )
            try:
                limit_s = run.deadlines.load_s + run.deadlines.spawn_s  # loads a map, and spawns traffic
                yield from _simulator(slot, job, folder=temp / name, flights=flights, limit_s=limit_s)
            finally:
                slot.close()
    if flights:
        yield from _estimate(request)


def _first_scenes(request: Request) -> str:
    scenes = all_scenes(request.dataset)
    towns = {town.casefold() for town in request.towns} or {scene.town.casefold() for scene in scenes}
    firsts = {scene.town: scene.index for scene in reversed(scenes) if scene.town.casefold() in towns}
    return ",".join(str(index) for index in sorted(firsts.values())) or "0"


def _machine() -> Iterator[Finding]:
    versions = (f"{name} {installed_version(name)}" for name in ("uavsim", "carla", "airsim", "numpy"))
    yield Finding("good", "packages", " ".join(versions))
    cores = len(os.sched_getaffinity(0))
    yield Finding("good", "processor", f"{cores} cores, load {os.getloadavg()[0]:.1f}")
    free_gb = _available_memory_gb()
    few = free_gb < 4.0
    remedy = "close other programs, or run fewer simulators" if few else ""
    yield Finding("warning" if few else "good", "memory", f"{free_gb:.1f} GB available", remedy)
    year = time.gmtime().tm_year
    if year < 2024:
        remedy = "set the clock: logs and Prefect need it (timedatectl set-ntp true)"
        yield Finding("bad", "clock", f"the year is {year}", remedy)
    else:
        yield Finding("good", "clock", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()))


def _available_memory_gb() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1e6
    return 0.0


def _masks(plan: ScenePlan) -> Iterator[Finding]:
    """Report cameras with masks but no depth: their masks cannot be checked."""
    taken = [set(spec.modalities) for spec in plan.specs]
    if any(INSTANCE in names and DEPTH not in names for names in taken):
        yield Finding("warning", "masks", UNCHECKED_MASKS, "add depth to the rig's sensors")
    elif any(INSTANCE in names for names in taken):
        yield Finding("good", "masks", "checked against depth")


def _simulator(
    slot: SimulatorSlot, job: Job, *, folder: Path, flights: list[Flight], limit_s: float
) -> Iterator[Finding]:
    try:
        facts = slot.ready()
    except UavsimError as error:
        yield Finding("bad", slot.name, str(error), "see the message; the other checks of this simulator were skipped")
        return
    servers = slot.simulator.ensure()
    address = ", ".join(f"{name} at {where}" for name, where in servers.items())
    yield Finding("good", slot.name, f"{address}: client {facts.client}, server {facts.server}, map {facts.map_name}")
    lines = slot.simulator_log_tail().lower().splitlines()
    software = [line.strip() for line in lines if any(renderer in line for renderer in _SOFTWARE_RENDERERS)]
    if software:
        yield Finding("bad", slot.name, f"renders on the processor: {software[0]}", "install the card's Vulkan driver")
    if job.topology == "merged":
        engine = _engine(slot, job.plan_of(job.scenes[0].name), servers, folder=folder, limit_s=limit_s)
        yield engine
        if engine.level == "bad":
            return
    for town in job.towns:
        yield from _town(slot, job.plan_of(job.scenes_of(town)[0].name), folder=folder / town, flights=flights)


def _engine(
    slot: SimulatorSlot, plan: ScenePlan, servers: Mapping[str, str], *, folder: Path, limit_s: float
) -> Finding:
    """Measure in a separate process how a merged build behaves between ticks and under ``simPause``."""
    topic = f"{slot.name} engine"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "measure.msgpack"
    path.write_bytes(pack_plan(plan))
    where = ("--carla", servers["carla"], "--airsim", servers["airsim"], "--plan", str(path))
    python = slot.simulator.config.client_python
    command = python_command("uavsim.probing.engine", *where)
    try:
        done = subprocess.run(
            [python or command[0], *command[1:]], capture_output=True, text=True, timeout=limit_s, check=False
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return Finding("bad", topic, f"did not answer within {limit_s:g} s", NO_MERGED)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        message = f"the measuring process ended with code {done.returncode}: {last}"
        return Finding("bad", topic, message, "see the message")
    if "error" in answer:
        return Finding("bad", topic, answer["error"], NO_MERGED)
    found, remedy = EngineFacts(**answer["facts"]).lines
    return Finding("bad" if remedy else "good", topic, found, remedy)


def _town(slot: SimulatorSlot, plan: ScenePlan, *, folder: Path, flights: list[Flight]) -> Iterator[Finding]:
    topic = f"{slot.name} {plan.town.name}"
    folder.mkdir(parents=True)
    path = folder / "plan.msgpack"
    path.write_bytes(pack_plan(plan))
    images_at: list[tuple[int, float]] = []

    def on_event(event: ClientEvent) -> None:
        if isinstance(event, SampleTaken):
            images_at.append((event.images, time.monotonic()))

    began = time.monotonic()
    try:
        flown = slot.fly(path, out=folder / "recording", town=plan.town.name, on_event=on_event)
        recording = read_recording(Path(flown.recording))
        refuse_blank_images(recording)
    except TrafficStalled as error:
        yield Finding("bad", topic, str(error), "restart the server, request fewer vehicles, or lower min_moving_share")
        return
    except SceneVoid as error:
        yield Finding("bad", topic, str(error), "check the driver and the free graphics memory (nvidia-smi)")
        return
    except UavsimError as error:
        yield Finding("bad", topic, str(error), "see docs/operations.md; Town06 and Town07 need CARLA's AdditionalMaps")
        return
    yield _sockets(topic)
    yield from cards_in_flight(topic, slot.simulator.config, simulator=recording.facts.simulator)
    if unlisted := unlisted_vehicles(recording, annotate(recording).ignored):
        remedy = "use a released CARLA 0.9.16, or accept that parked vehicles have no boxes"
        yield Finding("warning", topic, unlisted, remedy)
    flight = _measured(plan, flown, seconds=time.monotonic() - began, images_at=images_at)
    flights.append(flight)
    slow = flight.images_per_s < _SLOW_IMAGES_PER_S
    pace = f"{flight.images_per_s:.1f} images/s, {flight.ticks_per_s:.1f} ticks/s, {flight.vehicles} vehicles"
    remedy = "check that the server renders on the card; docker needs --gpus all and the Vulkan driver files"
    yield Finding("warning" if slow else "good", topic, pace, remedy if slow else "")


def _sockets(topic: str) -> Finding:
    """Report listening sockets of client and simulator that other machines can reach."""
    found = open_to_others(os.getpid())
    if not found:
        return Finding("good", f"{topic} sockets", "all listen on this machine only")
    remedy = "libcarla's Traffic Manager drops all packets; give simulators a separate network (SECURITY.md)"
    return Finding("warning", f"{topic} sockets", "open to other machines: " + ", ".join(found), remedy)


def _measured(plan: ScenePlan, flown: SceneFlown, *, seconds: float, images_at: list[tuple[int, float]]) -> Flight:
    """Return the pace between the first and the last capture, without map loading and warm-up."""
    (first, began), (last, ended) = images_at[0], images_at[-1]
    span_s = max(ended - began, 1e-6) if len(images_at) > 1 else seconds
    captures = max((last - first) / len(plan.channels), 1)
    return Flight(
        images_per_s=captures * len(plan.channels) / span_s,
        ticks_per_s=captures * plan.image_every_steps / span_s,
        vehicles=f"{flown.vehicles} of {flown.vehicles_asked}",
    )


def _estimate(request: Request) -> Iterator[Finding]:
    """Forecast time and size of the run by a short run with all simulators, and check the free disk space."""
    try:
        found = forecast_of(request, console=Screen(quiet=True))
    except UavsimError as error:
        yield Finding("warning", "forecast", str(error), "see the message; the run's time and size are not known")
        return
    yield Finding("good", "forecast", found.text)
    if "://" in request.out:
        return
    folder = Path(request.out).absolute()
    while not folder.exists():
        folder = folder.parent
    free, needed = shutil.disk_usage(folder).free, _ROOM * found.size_bytes
    if not os.access(folder, os.W_OK):
        yield Finding("bad", "disk", f"{folder} cannot be written", "choose another --out, or change its permissions")
    elif free < needed:
        yield Finding("bad", "disk", f"{size(free)} free in {folder}", f"free {size(needed - free)}, or use JPEG")
    else:
        yield Finding("good", "disk", f"{size(free)} free in {folder}")
