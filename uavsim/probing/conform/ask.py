"""Constructors of answers, one object per capability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from uavsim.probing.conform.answers import Answer, Rule, Value

_HUGE: Final = 1e9
Measured = bool | int | float | str | Sequence[float] | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Answers to the questions of one capability; see ``Answer`` for the rules."""

    capability: str

    def equal(self, question: str, value: Measured, *, town_only: bool = False) -> Answer:
        """Return an answer that other simulators must repeat exactly."""
        return self._answer("equal", question, value, town_only=town_only)

    def near(
        self, question: str, value: Measured, tolerance: float, *, unit: str = "", town_only: bool = False
    ) -> Answer:
        """Return an answer with numbers that other simulators must repeat within a tolerance."""
        return self._answer("near", question, value, tolerance=tolerance, unit=unit, town_only=town_only)

    def at_most(self, question: str, value: Measured, bound: float, *, unit: str = "") -> Answer:
        """Return an answer with an upper bound for all simulators."""
        if isinstance(value, float) and not value < _HUGE:
            value = _HUGE  # NaN is within no bound
        return self._answer("at_most", question, value, tolerance=bound, unit=unit)

    def at_least(self, question: str, value: Measured, bound: float, *, unit: str = "") -> Answer:
        """Return an answer with a lower bound for all simulators."""
        return self._answer("at_least", question, value, tolerance=bound, unit=unit)

    def holds_all(self, question: str, value: Sequence[str], *, town_only: bool = False) -> Answer:
        """Return an answer with names that other simulators must have, too."""
        return self._answer("holds_all", question, sorted(value), town_only=town_only)

    def uncompared(self, question: str, value: Measured, *, unit: str = "") -> Answer:
        """Return an answer that depends on the machine and is not compared."""
        return self._answer("shown", question, value, unit=unit)

    def absent(self, question: str, note: str) -> Answer:
        """Return an answer without a value, with the reason."""
        return Answer(capability=self.capability, question=question, value=None, note=note[:400])

    def _answer(self, rule: Rule, question: str, measured: Measured, **options: Any) -> Answer:
        return Answer(capability=self.capability, question=question, value=_value(measured), rule=rule, **options)


def _value(measured: Measured) -> Value:
    if isinstance(measured, float):
        return _rounded(measured)
    if measured is None or isinstance(measured, bool | int | str):
        return measured
    if all(isinstance(item, str) for item in measured):
        return [str(item) for item in measured]
    return [_rounded(float(item)) for item in measured]


def _rounded(value: float) -> float:
    """Round to six digits; NaN and huge values become a number that is near no other."""
    return round(value, 6) if abs(value) <= _HUGE else -_HUGE
