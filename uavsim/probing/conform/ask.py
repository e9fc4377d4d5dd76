"""A short way to write answers down: one object a capability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from uavsim.probing.conform.answers import Answer, Rule, Value

__all__ = ["Ask"]

_HUGE: Final = 1e9
Given = bool | int | float | str | Sequence[float] | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Answers to the questions of one capability; see ``Answer`` for the rules."""

    capability: str

    def equal(self, question: str, value: Given, *, unit: str = "", town_only: bool = False) -> Answer:
        """Answer what is the same value everywhere."""
        return self._answer(question, value, "equal", (0.0, unit), town_only=town_only)

    def near(self, question: str, value: Given, tolerance: float, *, unit: str = "", town_only: bool = False) -> Answer:
        """Answer what is nearly the same number, or numbers, everywhere."""
        return self._answer(question, value, "near", (tolerance, unit), town_only=town_only)

    def at_most(self, question: str, value: Given, bound: float, *, unit: str = "") -> Answer:
        """Answer what may not be larger anywhere."""
        return self._answer(question, value, "at_most", (bound, unit))

    def at_least(self, question: str, value: Given, bound: float, *, unit: str = "") -> Answer:
        """Answer what may not be smaller anywhere."""
        return self._answer(question, value, "at_least", (bound, unit))

    def holds_all(self, question: str, value: Sequence[str], *, town_only: bool = False) -> Answer:
        """Answer with a list of names, of which none may be missing elsewhere."""
        return self._answer(question, sorted(value), "holds_all", (0.0, ""), town_only=town_only)

    def shown(self, question: str, value: Given, *, unit: str = "") -> Answer:
        """Answer what is of the machine, and compared with nothing."""
        return self._answer(question, value, "shown", (0.0, unit))

    def absent(self, question: str, note: str) -> Answer:
        """Say that there is no answer, and why."""
        return Answer(capability=self.capability, question=question, value=None, note=note[:400])

    def _answer(
        self, question: str, given: Given, rule: Rule, bound: tuple[float, str], *, town_only: bool = False
    ) -> Answer:
        value: Value
        if given is None or isinstance(given, bool | int | str):
            value = given
        elif isinstance(given, float):
            value = _rounded(given)
        elif all(isinstance(v, str) for v in given):
            value = [str(v) for v in given]
        else:
            value = [_rounded(float(v)) for v in given]
        tolerance, unit = bound
        return Answer(
            capability=self.capability,
            question=question,
            value=value,
            unit=unit,
            rule=rule,
            tolerance=tolerance,
            town_only=town_only,
        )


def _rounded(value: float) -> float:
    return round(value, 6) if abs(value) < _HUGE else -_HUGE  # also what is no number: near nothing
