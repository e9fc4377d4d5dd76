"""A run that would be over before a private Prefect server answers: the same stages in threads, without Prefect.

Nobody could look at such a server's pages, and to start it takes more of the processor than a short scene does.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

from uavsim.flows import stages
from uavsim.flows.finish import finish_again
from uavsim.flows.rounds import fly_all, outcome_of_error, retry_delays_s, worth_another_try
from uavsim.flows.stages import RunContext, SceneOutcome
from uavsim.flows.summary import DatasetSummary

__all__ = ["generate_short"]

_POLL_S = 0.1


def generate_short(context: RunContext) -> DatasetSummary:
    """Do what the flow ``generate-dataset`` does: fly the scenes town by town, write the tables, validate.

    Raises:
        UavsimError: what ended the run.
    """
    workers = len(context.pool.slots) * (1 + context.run.label_threads)
    outcomes: list[SceneOutcome] = []
    with ThreadPoolExecutor(workers, thread_name_prefix="scene") as threads:

        def submit(name: str) -> Callable[[], SceneOutcome]:
            return partial(_outcome, name, threads.submit(_fly_with_retries, context, name))

        for town in context.job.towns:
            names = [scene.name for scene in context.job.scenes_of(town)]
            outcomes += fly_all(context, names, submit=submit, note=lambda _: None)
    if context.failure is not None:
        raise context.failure
    context.pool.close()  # the validator takes the memory that simulators and clients had
    request = context.request
    return DatasetSummary(tuple(outcomes), finish_again(context.output, check=request.check, pixels=request.pixels))


def _fly_with_retries(context: RunContext, scene: str) -> SceneOutcome:
    """Fly a scene as often as it may fail; the ledger counts the attempts."""
    for delay_s in retry_delays_s(context.run):
        try:
            return stages.fly_scene(context, scene)
        except Exception as error:  # a mistake of ours in one scene is reported with it, as Prefect's tasks do
            if not worth_another_try(error):
                raise
        context.wait_for_end(delay_s)
    return stages.fly_scene(context, scene)


def _outcome(name: str, flying: Future[SceneOutcome]) -> SceneOutcome:
    while not flying.done():
        wait((flying,), timeout=_POLL_S)  # a signal on the way into an endless wait would be seen at its end only
    error = flying.exception()
    return flying.result() if error is None else outcome_of_error(name, error)
