"""The front of all runs but short ones: a town is a flow run, a scene a task run, as are tables, sheet and validation."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from prefect import flow, get_run_logger, tags, task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import Task

from uavsim.flows.artifacts import ARTIFACTS, report_scenes
from uavsim.run import stages
from uavsim.run.executor import FlyTown, outcome_of_error, retry_delays_s, worth_another_try
from uavsim.run.outcome import SceneOutcome
from uavsim.run.stages import RunContext

__all__ = ["PrefectFront", "step_of"]

T = TypeVar("T")


class PrefectFront:
    """Runs the parts of a run within the flow run that calls it."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.step = step_of(context.request.out)

    def town(self, town: str, fly: FlyTown) -> list[SceneOutcome]:
        """Fly a town's scenes in a flow run of its own, a task each."""
        context = self._context
        fly_scene = _scene_task(context)
        runner: ThreadPoolTaskRunner[SceneOutcome] = ThreadPoolTaskRunner(max_workers=context.workers)

        def submit(scene: str) -> Callable[[], SceneOutcome]:
            return partial(_outcome, scene, runner.submit(fly_scene, parameters={"scene": scene}))

        @flow(name="fly-town", flow_run_name=f"{context.job.dataset} {town} {context.request.scenes or 'all'}")
        def fly_town(town: str) -> list[SceneOutcome]:
            progress = create_progress_artifact(0.0, description=f"{len(context.job.scenes_of(town))} scenes")
            assert isinstance(progress, UUID), "in a synchronous flow"
            with runner:
                outcomes = fly(submit, lambda share: update_progress_artifact(progress, 100.0 * share))
            report_scenes(outcomes, title=f"{context.job.dataset} {town}")
            return outcomes

        with tags(context.job.dataset, town):
            return fly_town(town)


def step_of(out: str) -> Callable[[str, Callable[[], T]], T]:
    """Return what runs a step as a task, and shows what came of it.

    Args:
        out: the dataset's place.
    """

    def step(name: str, work: Callable[[], T]) -> T:
        result = task(name=name, cache_policy=NO_CACHE)(work)()
        if name in ARTIFACTS:
            ARTIFACTS[name](result, Path(out).name)
        return result

    return step


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
        return stages.fly_scene(context, scene)

    return fly_scene


def _worth_another_try(_: Task[..., object], __: TaskRun, state: State[object]) -> bool:
    return worth_another_try(state.result(raise_on_failure=False))


def _outcome(name: str, future: PrefectFuture[SceneOutcome]) -> SceneOutcome:
    result: object = future.result(raise_on_failure=False)
    if isinstance(result, SceneOutcome):
        return result
    outcome = outcome_of_error(name, result)
    get_run_logger().error("%s %s: %s", name, outcome.state, result)
    return outcome
