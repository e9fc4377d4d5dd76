"""Selection of the headless simulator's behaviours by a server's answers, for tests with the same behaviour."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from uavsim.probing.conform.answers import AnswerFile, Value


@dataclass(frozen=True, slots=True)
class _Rule:
    """Selects a value of a behaviour if ``holds`` is true for an answer."""

    behaviour: str
    value: str
    capability: str
    question: str
    holds: Callable[[Value], bool]


def _above(bound: float) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, int | float) and value > bound


_FEW_DRIVE: Final = 6
_RULES: Final = (
    _Rule("first-image", "second", "drawing", "ticks after listen() that send nothing", _above(0)),
    _Rule("stop", "late", "drawing", "a camera draws once more after stop()", bool),
    _Rule("no-rendering", "slows", "drawing", "ticks under no_rendering_mode get slower", bool),
    _Rule("set-pose", "stale", "AirSim placing", "until a pose that was set is read back, median", _above(0.02)),
    _Rule("continue", "stepped", "AirSim clock", "difference of the longest and the shortest of them", _above(1e-3)),
    _Rule("reset", "slow", "AirSim reset", "reset() answers 3 times", lambda answers: not answers),
    _Rule("parked", "unlisted", "parked vehicles", "drawn and not listed", bool),
    _Rule("large-map", "streamed", "placements", "an image's place against the asked one, worst", _above(100.0)),
    _Rule("exposure", "adapts", "exposure", "a first image's brightness against the last one's", _above(0.05)),
)


def selected(answers: AnswerFile) -> dict[str, str]:
    """Return the behaviours that differ from the simulator's defaults in these answers, with their values."""
    value_of = {(one.capability, one.question): one.value for one in answers.answers}
    return {
        rule.behaviour: rule.value
        for rule in _RULES
        if (value := value_of.get((rule.capability, rule.question))) is not None and rule.holds(value)
    }


def faults(answers: AnswerFile) -> list[str]:
    """Return entries of a faults file that reproduce the defects of masks and traffic in these answers."""
    value_of = {(one.capability, one.question): one.value for one in answers.answers}
    entries = []
    if _above(0.01)(value_of.get(("what masks hide", "share of them before which depth shows something"))):
        entries.append("{fault: untagged, tag: Terrain}")
    driving = value_of.get(("Traffic Manager", "cars of 10 that drive"))
    if isinstance(driving, int) and driving < _FEW_DRIVE:
        entries.append(f"{{fault: stall_traffic, probability: {1 - driving / 10:g}}}")
    return entries
