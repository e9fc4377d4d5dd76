"""The front of short runs: threads of this process; Prefect is neither started nor imported.

To start Prefect's server takes more of the processor than a short scene does, and nobody looks at a run of seconds.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Final, TypeVar

from uavsim.run import stages
from uavsim.run.executor import FlyTown, outcome_of_error, retry_delays_s, worth_another_try
from uavsim.run.outcome import SceneOutcome
from uavsim.run.stages import RunContext

__all__ = ["Threads"]

T = TypeVar("T")
_POLL_S: Final = 0.1


class Threads:
    """Flies and finishes a run in threads."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def town(self, town: str, fly: FlyTown) -> list[SceneOutcome]:
        """Fly a town's scenes in threads."""
        del town
        with ThreadPoolExecutor(self._context.workers, thread_name_prefix="scene") as threads:

            def submit(name: str) -> Callable[[], SceneOutcome]:
                return partial(_outcome, name, threads.submit(_fly_with_retries, self._context, name))

            return fly(submit, lambda _: None)

    @staticmethod
    def step(name: str, work: Callable[[], T]) -> T:
        """Run what follows the last scene, here."""
        del name
        return work()


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
