"""Recorded scenes shown again, by an installed package (``uavsim.replays``); a run of them is a run as any other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from uavsim.records.plan import ScenePlan
from uavsim.registry import Named, Registry
from uavsim.run.request import ReplayRequest, Request
from uavsim.typing import JsonDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Replays:
    """The difference between a run of recorded motion and one of a dataset's YAML.

    Attributes:
        plan: ``(planned, request) -> ScenePlan`` that shows a recorded scene again.
        kept: ``(replay, more) -> configuration`` that the new dataset keeps; ``more``: of what was named besides.
        source: ``(replay) -> fingerprint`` of the recorded dataset.
    """

    plan: Callable[[ScenePlan, Request], ScenePlan]
    kept: Callable[[ReplayRequest, JsonDict], JsonDict]
    source: Callable[[ReplayRequest], str]


REPLAYS: Final[Registry[Replays]] = Registry(
    "replays", {"recorded": Named("uavsim.replays.requests:RECORDED")}, expects=Replays
)


def replays() -> Replays:
    """Return what shows recorded scenes again."""
    return REPLAYS.pick("recorded")
