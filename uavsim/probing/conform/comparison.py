"""Comparison of the answers of two simulators: equal, different or missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from uavsim.probing.conform.answers import Answer, AnswerFile, Value

Result = Literal["as here", "other", "not there", "shown"]
_WORST_FIRST: Final[tuple[Result, ...]] = ("other", "not there", "as here", "shown")


@dataclass(frozen=True, slots=True)
class Compared:
    """One question with both answers.

    Attributes:
        answer: answer of the tested simulator; without a value if the question was not reached.
        reference: answer of the reference; None if it was not asked.
        result: ``shown``: not compared.
    """

    answer: Answer
    reference: Answer | None
    result: Result


def compare(tested: AnswerFile, reference: AnswerFile) -> list[Compared]:
    """Return the union of the questions by capability, in the order of the reference."""
    same_town = _plain(tested.town) == _plain(reference.town)
    answers = {(a.capability, a.question): a for a in tested.answers}
    airsim = bool(tested.airsim)
    compared = []
    for expected in reference.answers:
        answer = answers.pop((expected.capability, expected.question), None)
        if answer is None and expected.capability.startswith("AirSim") and not airsim:
            continue  # not asked
        answer = answer or expected.model_copy(update={"value": None, "note": "not answered"})
        compared.append(Compared(answer, expected, result_of(answer, expected, same_town=same_town)))
    compared += [Compared(answer, None, "shown") for answer in answers.values()]
    order = list(dict.fromkeys(c.answer.capability for c in compared))
    return sorted(compared, key=lambda c: order.index(c.answer.capability))


def by_capability(found: list[Compared]) -> Iterator[tuple[str, Result, list[Compared]]]:
    """Yield each capability with the worst result of its questions."""
    for capability, group in groupby(found, key=lambda c: c.answer.capability):
        questions = list(group)
        yield capability, min((c.result for c in questions), key=_WORST_FIRST.index), questions


def result_of(answer: Answer, reference: Answer, *, same_town: bool) -> Result:
    """Compare two answers to one question, by the reference's rule."""
    if reference.rule == "shown" or (reference.town_only and not same_town):
        return "shown"
    if answer.value is None or reference.value is None:
        return "as here" if answer.value is reference.value else "not there" if answer.value is None else "other"
    return "as here" if _same(answer.value, reference) else "other"


def _same(value: Value, reference: Answer) -> bool:
    expected, bound = reference.value, reference.tolerance
    if reference.rule == "equal":
        return value == expected
    if reference.rule == "holds_all":
        return isinstance(value, list) and isinstance(expected, list) and set(expected) <= set(value)
    numbers, others = _numbers(value), _numbers(expected)
    if numbers is None or others is None or len(numbers) != len(others):
        return False
    if reference.rule == "near":
        return all(abs(a - b) <= bound for a, b in zip(numbers, others, strict=True))
    return all(a <= bound if reference.rule == "at_most" else a >= bound for a in numbers)


def _numbers(value: Value) -> list[float] | None:
    listed = value if isinstance(value, list) else [value]
    numbers = [float(v) for v in listed if isinstance(v, int | float)]
    return numbers if len(numbers) == len(listed) else None


def _plain(town: str) -> str:
    return town.rpartition("/")[2].removesuffix("_Opt").casefold()
