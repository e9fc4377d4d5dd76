"""Bootstrap intervals over whole scenes, because samples of one scene are correlated."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray

__all__ = ["Interval", "interval_of", "jackknife", "scene_draws"]

_TAILS: Final = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the 95 % percentile interval of its draws; NaN without defined draws."""

    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        """Return the three numbers."""
        return {"value": self.value, "low": self.low, "high": self.high}


def scene_draws(scenes: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Draw as many scenes as there are, with replacement; returns (draws, scenes) counts."""
    counts: IntArray = (
        rng.multinomial(scenes, np.full(scenes, 1 / scenes), size=draws) if scenes else np.zeros((draws, 0), int)
    )
    return counts


def interval_of(value: float, drawn: FloatArray) -> Interval:
    """Return a value with the interval of its (draws,) values; NaN, of draws without ground truth, is left out."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return Interval(value, float("nan"), float("nan"))
    low, high = np.percentile(known, _TAILS)
    return Interval(value, float(low), float(high))


def jackknife(statistic: Callable[[FloatArray], float], scenes: int) -> FloatArray:
    """Return (scenes,) contributions: the statistic of all scenes minus that without the scene.

    Args:
        statistic: function of (scenes,) weights.
        scenes: number of scenes.
    """
    total = statistic(np.ones(scenes))
    without = [statistic(np.where(np.arange(scenes) == left_out, 0.0, 1.0)) for left_out in range(scenes)]
    return total - np.array(without)
