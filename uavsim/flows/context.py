"""The running context of a data set: its simulators and its output, opened once and shared by the flows of one process."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.errors import InputError, StorageError, SystemFailure
from uavsim.flows.job import Job
from uavsim.flows.progress import RunProgress
from uavsim.flows.request import Request
from uavsim.flows.resolve import resolve
from uavsim.flows.stages import RunContext
from uavsim.simulate.airsim_settings import airsim_settings
from uavsim.store.commit import sweep_orphans
from uavsim.store.identity import check_identity, claim_output
from uavsim.store.layout import OutLayout
from uavsim.store.ledger import read_ledger
from uavsim.store.output import Output
from uavsim.store.places import open_output
from uavsim.supervise.simulator_slot import NoSlotLeft, SimulatorSlot, SlotPool
from uavsim.terminal import Screen

__all__ = ["RUN_ENDS", "active", "is_held", "opened", "prepared"]

RUN_ENDS = (StorageError, InputError, NoSlotLeft)
_active: dict[str, tuple[Job, RunContext]] = {}


def active(out: str) -> RunContext:
    """Return the context that a flow of this process opened for ``out``.

    Raises:
        SystemFailure: none; tasks run in the process of their flow only.
    """
    if out not in _active:
        raise SystemFailure(f"no run is open for {out} in this process; start the flow, not its tasks")
    return _active[out][1]


def is_held(context: RunContext, scene: str) -> bool:
    """Tell whether another process is at a scene right now."""
    with context.output.lock(scene) as ours:
        return not ours


def prepared(request: Request) -> tuple[Job, Output]:
    """Check everything that can be checked before anything is started or written.

    Raises:
        InputError: a name, a key or a number is wrong, or the output holds something else.
    """
    job = resolve(request)
    output = open_output(request.out, scratch=request.run_config().scratch)
    check_identity(output, mark=str(job.identity["fingerprint"]), name=job.dataset)
    return job, output


@contextlib.contextmanager
def opened(
    request: Request, *, console: Screen | None = None, ready: tuple[Job, Output] | None = None
) -> Iterator[tuple[Job, RunContext]]:
    """Open the context of a request, or join the one that is open for its output.

    The simulators are brought up first: when none answers, nothing has been written.

    Args:
        request: what to make.
        console: tells people.
        ready: what ``prepared`` gave; planning a thousand scenes twice would be felt.

    Raises:
        InputError: see ``prepared``.
        SimulatorError: a simulator that is not there or of another version.
    """
    if request.out in _active:
        yield _active[request.out]
        return
    job, output = ready or prepared(request)
    run = request.run_config()
    with tempfile.TemporaryDirectory(prefix="uavsim-run-") as temp, _pool(job, run, output, temp=Path(temp)) as pool:
        pool.ready_all()
        claim_output(output, identity=job.identity)
        sweep_orphans(output)
        progress = _progress(job, output, request=request, console=console or Screen(stderr=True))
        context = RunContext(
            output=output,
            run=run,
            pool=pool,
            plan_of=job.plan_of,
            progress=progress,
            force=frozenset(s.name for s in job.scenes) if request.force else frozenset(),
        )
        _active[request.out] = job, context
        try:
            with progress:
                yield job, context
            output.sweep_leftovers()  # of workers that died meanwhile, whose scenes were flown here
        finally:
            context.abort(None)
            del _active[request.out]


def _pool(job: Job, run: RunConfig, output: Output, *, temp: Path) -> SlotPool:
    """Make the slots; what they print goes beside the data, also when they do not come up."""
    logs = OutLayout(output.root).logs
    names = [config.name or f"{config.kind}{k}-{os.getpid()}" for k, config in enumerate(run.simulators)]
    configs = [_with_swarm(config, job, temp=temp) for config in run.simulators]
    return SlotPool(
        [
            SimulatorSlot(config, run=run, topology=job.topology, name=name, logs=logs, home=temp / name)
            for name, config in zip(names, configs, strict=True)
        ]
    )


def _with_swarm(config: SimulatorConfig, job: Job, *, temp: Path) -> SimulatorConfig:
    """Give a headless simulator of ours the drones and cameras that the plans fly; real ones have their settings.json."""
    if job.topology == "carla" or config.kind != "mock" or "--airsim-settings" in config.arguments:
        return config
    plan = job.plan_of(job.scenes[0].name)
    x, y, z = plan.town.airsim_origin_ue_m
    settings = airsim_settings(plan) | {"PlayerStart": {"X": x, "Y": y, "Z": z}}  # read by the headless simulator alone
    path = temp / "airsim_settings.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return config.model_copy(update={"arguments": (*config.arguments, "--airsim-settings", str(path))})


def _progress(job: Job, output: Output, *, request: Request, console: Screen) -> RunProgress:
    asked = {scene.name for scene in job.scenes}
    done = 0 if request.force else sum(e.state == "committed" and n in asked for n, e in read_ledger(output).items())
    return RunProgress(scenes=len(asked), done=done, samples=job.samples, console=console)
