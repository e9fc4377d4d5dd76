"""``generate-town``: fly a town's scenes, one task a scene, then leave a data set that the validator has seen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from prefect import flow, get_run_logger, tags, task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import Task
from pydantic import Field

from uavsim.config.run import RunConfig
from uavsim.flows import context as contexts
from uavsim.flows.artifacts import tell_scenes
from uavsim.flows.deploy import one_at_a_time
from uavsim.flows.request import Request
from uavsim.flows.stages import RunContext, SceneOutcome, SceneQuarantined
from uavsim.flows.stages import fly_scene as fly_scene_stage
from uavsim.flows.tables import finish_dataset

__all__ = ["TownSummary", "fly_scene", "generate_town"]

_UNKNOWN = SceneOutcome("", "elsewhere")
_ELSEWHERE_POLL_S = 1.0
Dataset = Annotated[str, Field(description="a file of flight_plans/datasets without .yaml, or a path")]
Scenes = Annotated[str | None, Field(description="numbers in the data set: 0-4,7; all of the town when left out")]
Out = Annotated[str, Field(description="folder or fsspec URL of the data set")]
Simulators = Annotated[
    list[str], Field(description="mock or HOST:CARLA_PORT[:AIRSIM_PORT], each flies one scene at a time")
]


@dataclass(frozen=True, slots=True)
class TownSummary:
    """How the scenes that were asked for stand."""

    town: str
    outcomes: tuple[SceneOutcome, ...]

    def named(self, state: str) -> list[str]:
        """Return the scenes in one state."""
        return [outcome.scene for outcome in self.outcomes if outcome.state == state]


def _worth_another_try(_: Task[..., object], __: TaskRun, state: State[object]) -> bool:
    """Retry what the ledger has not given up, unless the run is ending."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, Exception) and not isinstance(error, (SceneQuarantined, *contexts.RUN_ENDS))


@task(name="fly-scene", task_run_name="{scene}", cache_policy=NO_CACHE, retry_condition_fn=_worth_another_try)
def fly_scene(scene: str, *, out: str) -> SceneOutcome:
    """Fly, label and commit one scene; takes and returns names, never clients or pixels."""
    return fly_scene_stage(contexts.active(out), scene)


def _run_name() -> str:
    from prefect.runtime import flow_run

    told = flow_run.parameters
    return f"{told['dataset']} {told['town']} {told.get('scenes') or 'all'}"


@flow(name="generate-town", flow_run_name=_run_name, validate_parameters=True)
def generate_town(  # noqa: PLR0917 - Prefect shows each parameter in its form
    dataset: Dataset,
    town: str,
    out: Out,
    scenes: Scenes = None,
    samples: int | None = None,
    seed: int | None = None,
    topology: str | None = None,
    formation: str | None = None,
    rig: str | None = None,
    weather: str | None = None,
    simulators: Simulators = ["mock"],  # noqa: B006 - never changed; Prefect needs a JSON default
    force_scenes: bool = False,
    run: RunConfig | None = None,
    finish: Annotated[bool, Field(description="afterwards write the tables and let the validator look")] = True,
) -> TownSummary:
    """Fly every scene of one town that is not committed yet; resumes whatever was left by a run before."""
    request = Request(
        dataset=dataset,
        towns=(town,),
        out=out,
        scenes=scenes,
        samples=samples,
        seed=seed,
        topology=topology,
        formation=formation,
        rig=rig,
        weather=weather,
        simulators=tuple(simulators),
        force=force_scenes,
        run=run,
    )
    with contexts.opened(request) as (job, context):
        context.gate = one_at_a_time
        names = [scene.name for scene in job.scenes if scene.town.casefold() == town.casefold()]
        with tags(dataset, town):
            summary = TownSummary(town, tuple(_fly_all(context, names, out=out)))
        tell_scenes(summary.outcomes, title=f"{dataset} {town}")
    if context.failure is not None:
        raise context.failure
    if finish:
        finish_dataset(out)
    return summary


def _fly_all(context: RunContext, names: list[str], *, out: str) -> list[SceneOutcome]:
    """Submit one task a scene; the pool of simulators decides when each flies.

    Scenes that another process holds are asked for again until they are done: when that process dies, they fall to this one.
    """
    delays_s = [context.run.retry_delay_s * 2**k for k in range(context.run.attempts - 1)]
    with_retries = fly_scene.with_options(retries=len(delays_s), retry_delay_seconds=delays_s or 0)
    workers = len(context.pool.slots) * (1 + context.run.label_threads)
    runner: ThreadPoolTaskRunner[SceneOutcome] = ThreadPoolTaskRunner(max_workers=workers)
    outcomes: dict[str, SceneOutcome] = {}
    progress = create_progress_artifact(0.0, description=f"{len(names)} scenes")
    assert isinstance(progress, UUID), "in a synchronous flow"
    with runner:
        try:
            while waiting := [name for name in names if outcomes.get(name, _UNKNOWN).state == _UNKNOWN.state]:
                if outcomes:
                    time.sleep(_ELSEWHERE_POLL_S)
                waiting = [name for name in waiting if name not in outcomes or not contexts.is_held(context, name)]
                futures = [runner.submit(with_retries, parameters={"scene": name, "out": out}) for name in waiting]
                for name, future in zip(waiting, futures, strict=True):
                    outcomes[name] = _outcome(name, future)
                    update_progress_artifact(progress, 100.0 * _share_done(outcomes, names))
        except BaseException:  # Ctrl-C: the scenes in flight must not be waited for
            context.abort(None)
            context.pool.interrupt()
            raise
    return [outcomes[name] for name in names]


def _share_done(outcomes: dict[str, SceneOutcome], names: list[str]) -> float:
    return sum(outcome.state in {"committed", "quarantined"} for outcome in outcomes.values()) / max(len(names), 1)


def _outcome(name: str, future: PrefectFuture[SceneOutcome]) -> SceneOutcome:
    result: object = future.result(raise_on_failure=False)
    if isinstance(result, SceneOutcome):
        return result
    state = "quarantined" if isinstance(result, SceneQuarantined) else "failed"
    get_run_logger().error("%s %s: %s", name, state, result)
    return SceneOutcome(name, state, reason=str(result))
