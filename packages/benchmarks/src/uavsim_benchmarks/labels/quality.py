"""Quality of an image, 1 to 5, from its pixel measures: the level of the worst one."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from uavsim.config.events import FALLING, QualityLevels

NAMES: Final = {1: "Very Poor", 2: "Poor", 3: "Fair", 4: "Good", 5: "Excellent"}
POOR: Final = 2
"""A measure at or below this level is a cause of poor visibility for all objects."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of an image.

    Attributes:
        level: integer from 1 to 5.
        score: continuous level, for ranking.
        worst_measure: the deciding measure; "" without one.
        poor: measures of level 1 or 2, worst first.
    """

    level: int
    score: float
    worst_measure: str
    poor: tuple[str, ...]


def grade(measured: Mapping[str, float], levels: QualityLevels) -> Quality:
    """Grade an image; NaN measures are ignored.

    Args:
        measured: measures by the names of ``QualityLevels``.
        levels: limits of the levels.
    """
    scores = {
        name: level_of(value, getattr(levels, name), falling=name in FALLING)
        for name, value in measured.items()
        if not math.isnan(value)
    }
    worst = min(scores, key=lambda name: scores[name], default="")
    score = scores.get(worst, 5.0)
    poor = sorted((name for name in scores if _whole(scores[name]) <= POOR), key=lambda name: scores[name])
    return Quality(_whole(score), round(score, 4), worst if score < 5.0 else "", tuple(poor))


def level_of(value: float, borders: tuple[float, float, float, float], *, falling: bool) -> float:
    """Return a level, piecewise linear between the borders: just below 5 at the first, just below 2 at the fourth.

    Args:
        value: the measure.
        borders: values between levels 5 | 4 | 3 | 2 | 1.
        falling: smaller values are worse.
    """
    sign = -1.0 if falling else 1.0
    steps = [sign * border for border in borders]
    signed_value = sign * value
    if signed_value <= steps[0]:
        return 5.0
    for number, (low, high) in enumerate(itertools.pairwise(steps)):
        if signed_value <= high:
            return 4.999 - number - 0.998 * (signed_value - low) / (high - low)
    return 1.999 - 0.998 * min((signed_value - steps[3]) / (steps[3] - steps[2]), 1.0)


def _whole(score: float) -> int:
    return math.floor(score)
