"""The scenes of one town in a run: submit them and collect their outcomes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from uavsim.config.run import RunConfig
from uavsim.run.outcome import SceneOutcome, outcome_of
from uavsim.run.stages import RUN_ENDS, RunContext, SceneQuarantined

_ELSEWHERE: Final = "elsewhere"
_POLL_S: Final = 1.0


class TownScenes:
    """The scenes of one town, and their outcomes so far.

    Args:
        context: context of the run.
        town: name of the town.
    """

    def __init__(self, context: RunContext, town: str) -> None:
        self._context = context
        self._names = [scene.name for scene in context.job.scenes_of(town)]
        entries = context.unchanged
        self._outcomes = {name: outcome_of(entries[name]) for name in self._names if name in entries}

    def rounds(self) -> Iterator[list[str]]:
        """Yield the names to submit: first all missing scenes, then scenes released by other processes.

        Scenes of other processes are polled until they are done, or the run ends.
        """
        yield [name for name in self._names if name not in self._outcomes]
        while elsewhere := [name for name, outcome in self._outcomes.items() if outcome.state == _ELSEWHERE]:
            self._context.wait_for_end(_POLL_S)
            if self._context.stopped:
                return
            yield [name for name in elsewhere if not is_held(self._context, name)]

    def note(self, name: str, ended: SceneOutcome | BaseException) -> None:
        """Store a submitted scene's outcome, or the error of its last attempt."""
        self._outcomes[name] = ended if isinstance(ended, SceneOutcome) else _outcome_of_error(name, ended)

    @property
    def outcomes(self) -> list[SceneOutcome]:
        """Return the outcomes in the order of the scenes; a scene that another process still holds is skipped."""
        outcomes = [self._outcomes[name] for name in self._names]
        return [replace(one, state="skipped") if one.state == _ELSEWHERE else one for one in outcomes]

    @property
    def share_done(self) -> float:
        """Return the share of scenes that are committed or quarantined, 0 to 1."""
        done = sum(outcome.state in {"committed", "quarantined"} for outcome in self._outcomes.values())
        return done / max(len(self._names), 1)


def is_held(context: RunContext, scene: str) -> bool:
    """Return whether another process holds the scene's lock."""
    with context.output.lock(scene) as is_locked:
        return not is_locked


def retry_delays_s(run: RunConfig) -> list[float]:
    """Return the delays before each further attempt at a scene, seconds."""
    return [run.retry_delay_s * 2**k for k in range(run.attempts - 1)]


def may_retry(error: object) -> bool:
    """Return whether a failed scene may be tried again: it is not quarantined, and the run is not ending."""
    return isinstance(error, Exception) and not isinstance(error, (SceneQuarantined, *RUN_ENDS))


def _outcome_of_error(name: str, error: BaseException) -> SceneOutcome:
    state = "quarantined" if isinstance(error, SceneQuarantined) else "failed"
    return SceneOutcome(name, state, reason=str(error))
