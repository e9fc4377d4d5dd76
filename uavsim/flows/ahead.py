"""The first scenes of each simulator fly while Prefect's server still starts; the tasks of these scenes take the outcome.

Only on simulators that the run starts itself: one that others may use is shared out by a limit of Prefect's server.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from uavsim.config.run import RunConfig
from uavsim.flows import stages
from uavsim.flows.stages import RunContext
from uavsim.store.ledger import read_entry

__all__ = ["FlightsAhead", "all_fly_ahead"]

_SCENES = 3  # of each simulator: on a busy machine Prefect's server takes longer than a short scene


def all_fly_ahead(run: RunConfig, scenes: int) -> bool:
    """Return whether so many scenes would all be begun before a private Prefect server answers."""
    ours = all(simulator.kind != "attach" for simulator in run.simulators)
    return ours and scenes <= _SCENES * len(run.simulators)


class FlightsAhead:
    """Flies the first scenes of the first town. Use as a context manager, within the run's context."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> FlightsAhead:
        slots = self._context.pool.slots
        if all(slot.simulator.is_ours for slot in slots):
            workers = len(slots) * (1 + self._context.run.label_threads)
            self._threads = ThreadPoolExecutor(workers, thread_name_prefix="ahead")
            for name in self._first_scenes(_SCENES * len(slots)):
                self._context.ahead[name] = self._threads.submit(stages.fly_scene, self._context, name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is None:
            return
        if kind is not None:  # Ctrl-C, or no server: nobody waits for these scenes any more
            self._context.abort(None)
            self._context.pool.interrupt()
        self._threads.shutdown(wait=True)

    def _first_scenes(self, count: int) -> list[str]:
        job = self._context.job
        names = [scene.name for scene in job.scenes_of(job.towns[0])]
        return [name for name in names if self._is_to_fly(name)][:count]

    def _is_to_fly(self, name: str) -> bool:
        entry = read_entry(self._context.output, name)
        return self._context.is_forced(name) or entry is None or entry.state == "flying"
