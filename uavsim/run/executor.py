"""The one executor of a run: every scene, town by town, then tables, contact sheet and validation.

A ``Front`` says who runs its parts: threads of this process (``threads.py``), or Prefect (``flows/front.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Protocol, TypeAlias

from uavsim.config.run import RunConfig
from uavsim.run.finish import Step, finish_dataset
from uavsim.run.outcome import SceneOutcome, outcome_of
from uavsim.run.result import Summary
from uavsim.run.stages import RUN_ENDS, RunContext, SceneQuarantined

Submit: TypeAlias = Callable[[str], Callable[[], SceneOutcome]]
"""Begins a scene; what it returns waits for the outcome."""
FlyTown: TypeAlias = Callable[[Submit, Callable[[float], None]], list[SceneOutcome]]
"""Flies a town's scenes by a front's tasks, and notes the share that is done, 0 to 1."""

_UNKNOWN: Final = SceneOutcome("", "elsewhere")
_ELSEWHERE_POLL_S: Final = 1.0
_SHORT: Final = 3  # scenes of each simulator: they are over soon after a Prefect server of our own would answer


class Front(Protocol):
    """The runner of a run's parts."""

    def town(self, town: str, fly: FlyTown) -> list[SceneOutcome]:
        """Fly a town's scenes, each in a task."""
        ...

    @property
    def step(self) -> Step:
        """Run what follows the last scene."""
        ...


def is_short(run: RunConfig, scenes: int) -> bool:
    """Return whether so many scenes are flown in threads where nobody has a Prefect server.

    A simulator that others may use, too, is shared out by a limit of Prefect's server.
    """
    ours = all(simulator.kind != "attach" for simulator in run.simulators)
    return ours and scenes <= _SHORT * len(run.simulators)


def execute(context: RunContext, front: Front) -> Summary:
    """Fly what is not there yet, write the tables, validate.

    Raises:
        UavsimError: what ended the run.
    """
    outcomes: list[SceneOutcome] = []
    for town in context.job.towns:
        outcomes += front.town(town, partial(_fly_town, context, town))
    if context.failure is not None:
        raise context.failure
    context.pool.close()  # the validator's processes take the memory that simulators and clients had
    return Summary(tuple(outcomes), finish_dataset(context.request, step=front.step, further=context.job.further))


def _fly_town(context: RunContext, town: str, submit: Submit, note: Callable[[float], None]) -> list[SceneOutcome]:
    names = [scene.name for scene in context.job.scenes_of(town)]
    outcomes = {name: outcome_of(context.there[name]) for name in names if name in context.there}
    flown = fly_all(context, [name for name in names if name not in outcomes], submit=submit, note=note)
    outcomes |= {outcome.scene: outcome for outcome in flown}
    return [outcomes[name] for name in names]


def fly_all(
    context: RunContext, names: Sequence[str], *, submit: Submit, note: Callable[[float], None]
) -> list[SceneOutcome]:
    """Submit one task a scene; the pool of simulators decides when each flies.

    Scenes that another process holds are submitted anew until they are done: when that process dies, this one flies them.

    Args:
        context: of the run.
        names: of the scenes.
        submit: begins a scene.
        note: gets the share of the scenes that are done, 0 to 1, after each.
    """
    outcomes: dict[str, SceneOutcome] = {}
    try:
        while waiting := [name for name in names if outcomes.get(name, _UNKNOWN).state == _UNKNOWN.state]:
            if outcomes:
                context.wait_for_end(_ELSEWHERE_POLL_S)
                if context.stopped:
                    break
            waiting = [name for name in waiting if name not in outcomes or not is_held(context, name)]
            begun = [submit(name) for name in waiting]
            for name, outcome in zip(waiting, begun, strict=True):
                outcomes[name] = outcome()
                note(_share_done(outcomes, names))
    except BaseException:  # Ctrl-C: the scenes in flight must not be waited for
        context.abort(None)
        context.pool.interrupt()
        context.output.give_up()
        raise
    return [_not_waited_for(outcomes[name]) for name in names]


def is_held(context: RunContext, scene: str) -> bool:
    """Return whether another process has the scene right now."""
    with context.output.lock(scene) as ours:
        return not ours


def _not_waited_for(outcome: SceneOutcome) -> SceneOutcome:
    """Return the outcome of a scene that another process still had when this run ended."""
    return replace(outcome, state="skipped") if outcome.state == _UNKNOWN.state else outcome


def _share_done(outcomes: dict[str, SceneOutcome], names: Sequence[str]) -> float:
    return sum(outcome.state in {"committed", "quarantined"} for outcome in outcomes.values()) / max(len(names), 1)


def retry_delays_s(run: RunConfig) -> list[float]:
    """Return how long is waited before each further attempt at a scene."""
    return [run.retry_delay_s * 2**k for k in range(run.attempts - 1)]


def worth_another_try(error: object) -> bool:
    """Return whether the ledger has not given the scene up, and the run is not ending."""
    return isinstance(error, Exception) and not isinstance(error, (SceneQuarantined, *RUN_ENDS))


def outcome_of_error(name: str, error: object) -> SceneOutcome:
    """Return how a scene stands of which the last attempt ended so."""
    state = "quarantined" if isinstance(error, SceneQuarantined) else "failed"
    return SceneOutcome(name, state, reason=str(error))
