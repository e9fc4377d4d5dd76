"""All scenes of a town, each in a task of whoever runs them; Prefect's, or a thread's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from uavsim.config.run import RunConfig
from uavsim.flows import context as contexts
from uavsim.flows.stages import RUN_ENDS, RunContext, SceneOutcome, SceneQuarantined

__all__ = ["Submit", "fly_all", "outcome_of_error", "retry_delays_s", "worth_another_try"]

Submit: TypeAlias = Callable[[str], Callable[[], SceneOutcome]]
"""Begins a scene; what it returns waits for the outcome."""

_UNKNOWN = SceneOutcome("", "elsewhere")
_ELSEWHERE_POLL_S = 1.0


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
            waiting = [name for name in waiting if name not in outcomes or not contexts.is_held(context, name)]
            begun = [submit(name) for name in waiting]
            for name, outcome in zip(waiting, begun, strict=True):
                outcomes[name] = outcome()
                note(_share_done(outcomes, names))
    except BaseException:  # Ctrl-C: the scenes in flight must not be waited for
        context.abort(None)
        context.pool.interrupt()
        raise
    return [_not_waited_for(outcomes[name]) for name in names]


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
