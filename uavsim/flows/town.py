"""``generate-town``: fly a town's scenes, one task a scene, then leave a dataset that the validator has seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from prefect import flow, get_run_logger, tags, task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import Task

from uavsim.errors import InputError
from uavsim.flows import context as contexts
from uavsim.flows import stages
from uavsim.flows.artifacts import report_scenes
from uavsim.flows.deploy import one_at_a_time
from uavsim.flows.request import Request
from uavsim.flows.rounds import fly_all, outcome_of_error, retry_delays_s, worth_another_try
from uavsim.flows.stages import RunContext, SceneOutcome
from uavsim.flows.tables import finish_dataset
from uavsim.flows.worker import of_worker

__all__ = ["TownSummary", "fly_town", "generate_town", "request_of_flow_run"]


@dataclass(frozen=True, slots=True)
class TownSummary:
    """How the scenes that were asked for stand."""

    town: str
    outcomes: tuple[SceneOutcome, ...]

    def named(self, state: str) -> list[str]:
        """Return the scenes in one state."""
        return [outcome.scene for outcome in self.outcomes if outcome.state == state]


def request_of_flow_run() -> Request:
    """Return the request of the flow run that is beginning; from a server it comes as JSON."""
    from prefect.runtime import flow_run

    return Request.model_validate(flow_run.parameters["request"])


def _run_name() -> str:
    return request_of_flow_run().title


@flow(name="generate-town", flow_run_name=_run_name, validate_parameters=True)
def generate_town(request: Request) -> TownSummary:
    """Fly every scene of one town that is not committed yet; resumes whatever was left by a run before.

    Raises:
        InputError: the request names no town, or several.
    """
    if len(request.towns) != 1:
        raise InputError(
            f"generate-town flies one town; towns has {len(request.towns)} (generate-dataset flies several)"
        )
    with contexts.opened(contexts.prepared(of_worker(request)), gate=one_at_a_time) as context:
        summary = fly_town(context, context.job.towns[0])
    if context.failure is not None:
        raise context.failure
    finish_dataset(of_worker(request))
    return summary


def fly_town(context: RunContext, town: str) -> TownSummary:
    """Fly the town's scenes of a run that is open, within the flow run that calls this."""
    names = [scene.name for scene in context.job.scenes_of(town)]
    with tags(context.job.dataset, town):
        summary = TownSummary(town, tuple(_fly_all(context, names)))
    report_scenes(summary.outcomes, title=f"{context.job.dataset} {town}")
    return summary


def _worth_another_try(_: Task[..., object], __: TaskRun, state: State[object]) -> bool:
    return worth_another_try(state.result(raise_on_failure=False))


def _scene_task(context: RunContext) -> Task[[str], SceneOutcome]:
    """Make the task that flies one scene of this run; it takes and returns names, never clients or pixels.

    The context is the task's own, not a parameter: Prefect records parameters and looks into them for results of others.
    """
    delays_s = retry_delays_s(context.run)

    @task(
        name="fly-scene",
        task_run_name="{scene}",
        cache_policy=NO_CACHE,
        retries=len(delays_s),
        retry_delay_seconds=delays_s or 0,
        retry_condition_fn=_worth_another_try,
    )
    def fly_scene(scene: str) -> SceneOutcome:
        return stages.fly_scene_or_take(context, scene)

    return fly_scene


def _fly_all(context: RunContext, names: list[str]) -> list[SceneOutcome]:
    fly_scene = _scene_task(context)
    workers = len(context.pool.slots) * (1 + context.run.label_threads)
    runner: ThreadPoolTaskRunner[SceneOutcome] = ThreadPoolTaskRunner(max_workers=workers)
    progress = create_progress_artifact(0.0, description=f"{len(names)} scenes")
    assert isinstance(progress, UUID), "in a synchronous flow"

    def submit(name: str) -> Callable[[], SceneOutcome]:
        return partial(_outcome, name, runner.submit(fly_scene, parameters={"scene": name}))

    with runner:
        return fly_all(
            context, names, submit=submit, note=lambda share: update_progress_artifact(progress, 100.0 * share)
        )


def _outcome(name: str, future: PrefectFuture[SceneOutcome]) -> SceneOutcome:
    result: object = future.result(raise_on_failure=False)
    if isinstance(result, SceneOutcome):
        return result
    outcome = outcome_of_error(name, result)
    get_run_logger().error("%s %s: %s", name, outcome.state, result)
    return outcome
