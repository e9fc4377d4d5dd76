"""The context of a run: its simulators and its output, opened once and passed on explicitly."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from uavsim.config.backends import AIRSIM, backend_of
from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.files.scratch import scratch_folder
from uavsim.files.whole import make_folders, storage_errors
from uavsim.run.edited import refuse_edits
from uavsim.run.job import Job
from uavsim.run.on_top import NOTHING, OnTop
from uavsim.run.progress import RunProgress, start_up
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.run.stages import RunContext
from uavsim.simulate.airsim.settings import airsim_settings
from uavsim.simulate.answerers import refuse_foreign_servers as refuse_foreign_servers_at
from uavsim.simulate.ports import Endpoint
from uavsim.store.commit import sweep_orphans
from uavsim.store.identity import (
    check_identity,
    claim_output,
    keep_asked,
    keep_configuration,
    kept_dataset,
    read_identity,
)
from uavsim.store.layout import OutLayout
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.output import Output
from uavsim.supervise.simulator import Simulator
from uavsim.supervise.simulator_slot import SimulatorSlot, SlotPool
from uavsim.terminal import Screen


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked request with its job and output.

    Attributes:
        request: the request.
        job: its scenes and plans.
        output: the dataset to write.
        unchanged: entries of committed scenes with an unchanged plan.
    """

    request: Request
    job: Job
    output: Output
    unchanged: dict[str, LedgerEntry]

    @property
    def to_fly(self) -> tuple[str, ...]:
        """Names of the scenes to fly."""
        return tuple(scene.name for scene in self.job.scenes if scene.name not in self.unchanged)


def prepared(request: Request, on_top: OnTop = NOTHING) -> Prepared:
    """Check a request without a simulator and without writing.

    Args:
        request: the request.
        on_top: functions of higher packages.

    Raises:
        InputError: a name, a key or a number is wrong, or the output holds something else.
    """
    output = request.output()
    request = _with_kept_configuration(request, output)
    decided = partial(resolve, on_top=on_top)
    job = decided(request)
    mark, config = str(job.identity["fingerprint"]), job.identity.get("config")
    check_identity(output, mark=mark, name=job.dataset, config=config)
    refuse_edits(request, job, output, resolve=decided)
    return Prepared(request, job, output, _committed_as_planned(request, job, output))


def _committed_as_planned(request: Request, job: Job, output: Output) -> dict[str, LedgerEntry]:
    """Return the ledger entries of the scenes that need no flight."""
    ledger = {} if request.force else read_ledger(output)
    return {
        scene.name: entry
        for scene in job.scenes
        if (entry := ledger.get(scene.name)) is not None
        and entry.state == "committed"
        and entry.replacing is None
        and entry.plan_sha256 == job.plans[scene.name].digest
    }


def _with_kept_configuration(request: Request, output: Output) -> Request:
    """Use the configuration kept in the dataset if the path of its YAML does not exist from the current folder."""
    named = request.dataset
    if not named.endswith((".yaml", ".yml")) or Path(named).exists():
        return request
    stored_path, identity = kept_dataset(output), read_identity(output) or {}
    if stored_path is None or identity.get("request", {}).get("dataset") != named:
        return request
    return request.model_copy(update={"dataset": stored_path})


def refuse_foreign_servers(ready: Prepared, *, console: Screen) -> None:
    """Check the versions of attached simulators before starting client processes.

    Args:
        ready: the result of ``prepared``.
        console: shows that a server is awaited.

    Raises:
        SimulatorError: no simulator answers, another program does, or the version differs.
    """
    backend = backend_of(ready.job.topology)
    for number, config in enumerate(ready.request.run_config().simulators if ready.to_fly else ()):
        if config.kind == "attach":
            name = config.name or f"{config.kind}{number}"
            simulator = Simulator(config, servers=backend.servers, name=name, logs=OutLayout(ready.output.root).logs)
            simulator.say = console.print
            endpoints = {server: Endpoint.parse(address, what=server) for server, address in simulator.ensure().items()}
            refuse_foreign_servers_at(backend.topology, endpoints, python=config.client_python or backend.python)


@contextlib.contextmanager
def opened(
    ready: Prepared, *, console: Screen | None = None, meanwhile: Callable[[], object] | None = None
) -> Iterator[RunContext]:
    """Open the context of a request.

    Simulators start before anything is written, and only if there is a scene to fly.

    Args:
        ready: the result of ``prepared``.
        console: shows the progress.
        meanwhile: called while simulators start.

    Raises:
        SimulatorError: a simulator is missing or has another version.
    """
    job, output, unchanged = ready.job, ready.output, ready.unchanged
    console = console or Screen(stderr=True)
    run = ready.request.run_config()
    with scratch_folder("uavsim-run-") as temp, _pool(ready, run, temp=temp) as pool:
        if pool.slots:
            with start_up(console, "simulators and clients start") as say:
                pool.ready_all(say=say, meanwhile=meanwhile)
        claim_output(output, identity=job.identity)
        keep_configuration(output, job.configuration)
        keep_asked(output, [scene.name for scene in job.scenes])
        sweep_orphans(output)
        context = RunContext(
            request=ready.request,
            job=job,
            output=output,
            run=run,
            pool=pool,
            progress=RunProgress(scenes=len(job.scenes), done=len(unchanged), samples=job.samples, console=console),
            unchanged=unchanged,
        )
        try:
            with context.progress:
                yield context
            output.sweep_leftovers()  # left by dead workers for scenes of this run
        finally:
            context.abort(None)


def _pool(ready: Prepared, run: RunConfig, *, temp: Path) -> SlotPool:
    """Make the simulator slots with their logs in the output."""
    job, logs = ready.job, OutLayout(ready.output.root).logs
    if not ready.to_fly:
        return SlotPool([])
    with storage_errors(f"write {ready.output.address}"):  # before the first log: the user named this path
        make_folders([logs])
    run_id = os.urandom(3).hex()  # ports are read from logs, so no other run, in any container, may write these files
    names = [f"{config.name or f'{config.kind}{k}-{os.getpid()}'}-{run_id}" for k, config in enumerate(run.simulators)]
    configs = [with_swarm(config, job, temp=temp) for config in run.simulators]
    return SlotPool(
        [
            SimulatorSlot(config, run=run, topology=job.topology, name=name, logs=logs, home=temp / name)
            for name, config in zip(names, configs, strict=True)
        ]
    )


def with_swarm(config: SimulatorConfig, job: Job, *, temp: Path) -> SimulatorConfig:
    """Pass the plans' drones and cameras to a headless simulator; real ones read their settings.json."""
    has_airsim = any(server.name == AIRSIM.name for server in backend_of(job.topology).servers)
    if not has_airsim or config.kind != "mock" or "--airsim-settings" in config.arguments:
        return config
    plan = job.plan_of(job.scenes[0].name)
    x, y, z = plan.town.airsim_origin_ue_m
    settings = airsim_settings(plan) | {"PlayerStart": {"X": x, "Y": y, "Z": z}}  # only the headless simulator reads it
    path = temp / "airsim_settings.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return config.model_copy(update={"arguments": (*config.arguments, "--airsim-settings", str(path))})
