"""The context of a run: its simulators and its output, opened once and handed on; nothing global knows of it."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from uavsim.config.backends import AIRSIM, backend_of
from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.flows.ahead import all_fly_ahead
from uavsim.flows.edited import refuse_mixture
from uavsim.flows.job import Job
from uavsim.flows.progress import RunProgress, start_up
from uavsim.flows.request import Request
from uavsim.flows.resolve import resolve
from uavsim.flows.stages import Gate, RunContext, plan_digest
from uavsim.simulate.airsim.settings import airsim_settings
from uavsim.simulate.answerers import refuse_foreign_servers as refuse_foreign_servers_at
from uavsim.simulate.ports import Endpoint
from uavsim.store.commit import sweep_orphans
from uavsim.store.identity import check_identity, claim_output, keep_configuration, kept_dataset, read_identity
from uavsim.store.layout import OutLayout
from uavsim.store.ledger import LedgerEntry, read_entry, read_ledger
from uavsim.store.output import Output
from uavsim.supervise.simulator import Simulator
from uavsim.supervise.simulator_slot import SimulatorSlot, SlotPool
from uavsim.terminal import Screen

__all__ = ["Prepared", "committed_already", "is_held", "is_short", "opened", "prepared", "refuse_foreign_servers"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that was checked: what is to be flown, and where it goes."""

    request: Request
    job: Job
    output: Output


def is_held(context: RunContext, scene: str) -> bool:
    """Return whether another process has the scene right now."""
    with context.output.lock(scene) as ours:
        return not ours


def prepared(request: Request) -> Prepared:
    """Check everything that can be checked before anything is started or written.

    Raises:
        InputError: a name, a key or a number is wrong, or the output holds something else.
    """
    output = request.output()
    request = _found_again(request, output)
    job = resolve(request)
    mark, config = str(job.identity["fingerprint"]), job.identity.get("config")
    check_identity(output, mark=mark, name=job.dataset, config=config)
    refuse_mixture(request, job, output, resolve=resolve)
    return Prepared(request, job, output)


def committed_already(ready: Prepared) -> list[LedgerEntry] | None:
    """Return the entries of all scenes of a request, or None as soon as one of them is to be flown, or given up."""
    if ready.request.force:
        return None
    entries = []
    for scene in ready.job.scenes:
        entry = read_entry(ready.output, scene.name)
        if entry is None or entry.state != "committed" or entry.replacing is not None:
            return None
        if entry.plan_sha256 != plan_digest(ready.job.plan_of(scene.name)):
            return None
        entries.append(entry)
    return entries


def is_short(ready: Prepared) -> bool:
    """Return whether all scenes that are to be flown would be begun before a private Prefect server answers."""
    ledger = {} if ready.request.force else read_ledger(ready.output)
    there = {name for name, entry in ledger.items() if entry.state == "committed"}
    return all_fly_ahead(ready.request.run_config(), sum(scene.name not in there for scene in ready.job.scenes))


def _found_again(request: Request, output: Output) -> Request:
    """Use the configuration that the dataset keeps where its YAML, a path, is not to be found from this folder."""
    named = request.dataset
    if not named.endswith((".yaml", ".yml")) or Path(named).exists():
        return request
    kept, identity = kept_dataset(output), read_identity(output) or {}
    if kept is None or identity.get("request", {}).get("dataset") != named:
        return request
    return request.model_copy(update={"dataset": kept})


def refuse_foreign_servers(ready: Prepared) -> None:
    """Ask the simulators that run already who they are, before anything is started for them.

    Raises:
        SimulatorError: nobody answers, another program does, or one of another version.
    """
    backend = backend_of(ready.job.topology)
    for number, config in enumerate(ready.request.run_config().simulators):
        if config.kind == "attach":
            name = config.name or f"{config.kind}{number}"
            there = Simulator(
                config, servers=backend.servers, name=name, logs=OutLayout(ready.output.root).logs
            ).ensure()
            refuse_foreign_servers_at(
                backend.topology, {server: Endpoint.parse(at, what=server) for server, at in there.items()}
            )


@contextlib.contextmanager
def opened(ready: Prepared, *, console: Screen | None = None, gate: Gate | None = None) -> Iterator[RunContext]:
    """Open the context of a request.

    The simulators are brought up first: when none answers, nothing has been written.

    Args:
        ready: what ``prepared`` returned.
        console: shows people the progress.
        gate: held while a scene flies, see ``RunContext``.

    Raises:
        SimulatorError: a simulator that is not there or of another version.
    """
    job, output, console = ready.job, ready.output, console or Screen(stderr=True)
    run = ready.request.run_config()
    with tempfile.TemporaryDirectory(prefix="uavsim-run-") as temp, _pool(job, run, output, temp=Path(temp)) as pool:
        with start_up(console, "simulators and clients start") as say:
            pool.ready_all(say=say)
        claim_output(output, identity=job.identity)
        keep_configuration(output, job.kept)
        sweep_orphans(output)
        context = RunContext(
            request=ready.request,
            job=job,
            output=output,
            run=run,
            pool=pool,
            progress=_progress(ready, console=console),
        )
        context.gate = gate or context.gate
        try:
            with context.progress:
                yield context
            output.sweep_leftovers()  # of workers that died meanwhile, whose scenes were flown here
        finally:
            context.abort(None)


def _pool(job: Job, run: RunConfig, output: Output, *, temp: Path) -> SlotPool:
    """Make the simulator slots; what they print goes beside the data, also when they do not come up."""
    logs = OutLayout(output.root).logs
    ours = os.urandom(3).hex()  # ports are read from logs: no other run, in whatever container, may write into these
    names = [f"{config.name or f'{config.kind}{k}-{os.getpid()}'}-{ours}" for k, config in enumerate(run.simulators)]
    configs = [with_swarm(config, job, temp=temp) for config in run.simulators]
    return SlotPool(
        [
            SimulatorSlot(config, run=run, topology=job.topology, name=name, logs=logs, home=temp / name)
            for name, config in zip(names, configs, strict=True)
        ]
    )


def with_swarm(config: SimulatorConfig, job: Job, *, temp: Path) -> SimulatorConfig:
    """Give a headless simulator of ours the drones and cameras that the plans fly; real ones have their settings.json."""
    has_airsim = any(server.name == AIRSIM.name for server in backend_of(job.topology).servers)
    if not has_airsim or config.kind != "mock" or "--airsim-settings" in config.arguments:
        return config
    plan = job.plan_of(job.scenes[0].name)
    x, y, z = plan.town.airsim_origin_ue_m
    settings = airsim_settings(plan) | {"PlayerStart": {"X": x, "Y": y, "Z": z}}  # read by the headless simulator alone
    path = temp / "airsim_settings.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return config.model_copy(update={"arguments": (*config.arguments, "--airsim-settings", str(path))})


def _progress(ready: Prepared, *, console: Screen) -> RunProgress:
    job = ready.job
    asked = {scene.name for scene in job.scenes}
    ledger = read_ledger(ready.output)
    done = 0 if ready.request.force else sum(e.state == "committed" and n in asked for n, e in ledger.items())
    return RunProgress(scenes=len(asked), done=done, samples=job.samples, console=console)
