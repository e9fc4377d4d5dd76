"""Numbers that every scene draws: ``{uniform: [20, 80]}``, ``{normal: [60, 10], min: 30, max: 90}``, ``{choice: [1, 2]}``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from pydantic import BaseModel

from uavsim.config.explain import DISTRIBUTIONS, KeyPath, kind_word
from uavsim.typing import JsonDict

__all__ = ["DISTRIBUTION_SCHEMA", "Distribution", "DistributionError", "distributions", "with_plain", "with_value"]

_LAWS: Final = dict(zip(DISTRIBUTIONS, ((), ("min", "max"), ("weights",)), strict=True))
_FORMS: Final = (
    "write {uniform: [low, high]}, {normal: [mean, std], min: low, max: high} or {choice: [...], weights: [...]}"
)
_PAIR: Final = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
_NUMBERS: Final = {"type": "array", "items": {"type": "number"}, "minItems": 1}
DISTRIBUTION_SCHEMA: Final[JsonDict] = {
    "title": "Distribution",
    "description": "A number that every scene draws.",
    "anyOf": [
        {"type": "object", "properties": {"uniform": _PAIR}, "required": ["uniform"], "additionalProperties": False},
        {
            "type": "object",
            "properties": {"normal": _PAIR, "min": {"type": "number"}, "max": {"type": "number"}},
            "required": ["normal", "min", "max"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"choice": _NUMBERS, "weights": _NUMBERS},
            "required": ["choice"],
            "additionalProperties": False,
        },
    ],
}
"""JSON Schema of a distribution, for editors."""
_MOST_CHOICES: Final = 100
_MOST_TRIES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Distribution:
    """A law of one number.

    Attributes:
        law: ``uniform``, ``normal`` or ``choice``.
        numbers: low and high; mean and standard deviation; or the values to choose from.
        bounds: least and greatest value that is drawn.
        weights: of the values to choose from; () weighs all equally.
        is_whole: only whole numbers are drawn; by ``uniform``, all from low to high with equal probability.
    """

    law: str
    numbers: tuple[float, ...]
    bounds: tuple[float, float]
    weights: tuple[float, ...] = ()
    is_whole: bool = False

    @property
    def extremes(self) -> tuple[float, ...]:
        """The values with which a configuration is checked: both bounds, or every choice."""
        return self.numbers if self.law == "choice" else self.bounds

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a number: whole ones are ``int``."""
        if self.law == "choice":
            weights = np.array(self.weights or [1.0] * len(self.numbers))
            value = self.numbers[int(rng.choice(len(self.numbers), p=weights / weights.sum()))]
        elif self.law == "normal":
            value = self._within(rng)
        elif self.is_whole:
            value = int(rng.integers(int(self.bounds[0]), int(self.bounds[1]) + 1))
        else:
            value = float(rng.uniform(*self.bounds))
        return round(value) if self.is_whole else float(value)

    def _within(self, rng: np.random.Generator) -> float:
        """Draw a normal number again until it is within the bounds: the truncated normal distribution."""
        for _ in range(_MOST_TRIES):
            value = float(rng.normal(self.numbers[0], self.numbers[1]))
            if self.bounds[0] <= value <= self.bounds[1]:
                return value
        raise AssertionError("parse_distribution checks that the bounds are not far from the mean")


def parse_distribution(value: Mapping[str, Any]) -> Distribution | None:
    """Read a mapping as a distribution; None where it names no law.

    Raises:
        ValueError: it names one, and is not of its form.
    """
    laws = [law for law in _LAWS if law in value]
    if not laws:
        return None
    law = laws[0]
    numbers = value[law]
    if set(value) - {law, *_LAWS[law]}:
        raise ValueError(f"{sorted(set(value) - {law, *_LAWS[law]})[0]} does not belong to {law}; {_FORMS}")
    if not isinstance(numbers, tuple) or not all(map(_is_number, numbers)):
        raise ValueError(f"{law} needs a list of numbers, not {kind_word(numbers)}; {_FORMS}")
    if law == "choice":
        return _choice(numbers, value.get("weights"))
    if len(numbers) != 2:
        raise ValueError(f"{law} needs two numbers; {_FORMS}")
    if law == "normal" and not (_is_number(value.get("min")) and _is_number(value.get("max"))):
        raise ValueError(f"normal needs min and max, between which numbers are drawn; {_FORMS}")
    low, high = (value["min"], value["max"]) if law == "normal" else numbers
    if low >= high:
        raise ValueError(f"the lower bound {low:g} must be below the upper bound {high:g}")
    if law == "normal" and not (numbers[1] > 0 and low - 3 * numbers[1] <= numbers[0] <= high + 3 * numbers[1]):
        raise ValueError("std must be above 0, and the mean within 3 std of min and max")
    return Distribution(law, tuple(numbers), (low, high))


def _choice(numbers: tuple[float, ...], weights: Any) -> Distribution:
    if not 1 <= len(numbers) <= _MOST_CHOICES:
        raise ValueError(f"choice needs 1 to {_MOST_CHOICES} numbers")
    if weights is not None and not (
        isinstance(weights, tuple) and len(weights) == len(numbers) and all(_is_number(w) and w > 0 for w in weights)
    ):
        raise ValueError("weights needs one number above 0 for each number of choice")
    return Distribution("choice", numbers, (min(numbers), max(numbers)), weights or ())


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))


def distributions(value: Any, key_path: KeyPath = ()) -> Iterator[tuple[KeyPath, Distribution]]:
    """Yield every distribution in plain YAML values, with its key path.

    Raises:
        DistributionError: a mapping names a law and is not of its form.
    """
    if isinstance(value, dict):
        try:
            found = parse_distribution(value)
        except ValueError as error:
            raise DistributionError(key_path, str(error)) from error
        if found is not None:
            yield key_path, found
            return
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
    for step, part in parts:
        yield from distributions(part, (*key_path, step))


class DistributionError(ValueError):
    """An error in a distribution, with its key."""

    def __init__(self, key_path: KeyPath, what: str) -> None:
        super().__init__(what)
        self.key_path = key_path


def with_plain(value: Any, key_path: KeyPath, number: float) -> Any:
    """Return plain YAML values with a number at a key path."""
    if not key_path:
        return number
    step, rest = key_path[0], key_path[1:]
    if isinstance(value, tuple):
        return tuple(with_plain(part, rest, number) if i == step else part for i, part in enumerate(value))
    return value | {step: with_plain(value[step], rest, number)}


def with_value(model: Any, key_path: KeyPath, number: float) -> Any:
    """Return a configuration with a number at a key path; the number was checked when its file was read."""
    if not key_path:
        return type(model).model_validate(number) if isinstance(model, BaseModel) else number
    step, rest = key_path[0], key_path[1:]
    if isinstance(model, BaseModel):
        names = {field.alias or name: name for name, field in type(model).model_fields.items()}
        name = names[str(step)]
        return model.model_copy(update={name: with_value(getattr(model, name), rest, number)})
    if isinstance(model, tuple):
        return tuple(with_value(part, rest, number) if i == step else part for i, part in enumerate(model))
    return {**model, step: with_value(model[step], rest, number)}
