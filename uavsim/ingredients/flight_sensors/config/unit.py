"""The common part of a flight controller's sensors: a rate, errors in the YAML, and readings along a motion."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import Field

from uavsim.config.base import Model

if TYPE_CHECKING:  # a check of YAML needs no splines
    from uavsim.ingredients.flight_sensors.motion import Motion

NotNegative = Annotated[float, Field(ge=0)]
Stream: TypeAlias = npt.NDArray[Any]
"""(N,) readings in the order of time; the fields' names carry units, what has ``true`` in its name is without errors."""
VECTOR = ("<f8", (3,))
_MOST_HZ = 1000


class Unit(Model):
    """A sensor that measures at a rate. A subclass is all that is said of a kind: its keys, and how it reads."""

    usual_hz: ClassVar[float]

    rate_hz: Annotated[float, Field(gt=0, le=_MOST_HZ)] | None = None
    """Readings a second; the time between two is a whole number of microseconds. At most one a step of the simulation where
    motion is known at steps alone."""

    @property
    def hz(self) -> float:
        """Return the rate that was asked for, or the usual one."""
        return self.usual_hz if self.rate_hz is None else self.rate_hz

    @abstractmethod
    def read(self, motion: Motion, rng: np.random.Generator) -> Stream:
        """Return what it measures at each instant of a motion, and the truth beside."""


def empty(motion: Motion, *fields: tuple[Any, ...]) -> Stream:
    """Return zeros for every instant of a motion, with its times."""
    found = np.zeros(len(motion.timestamp_us), np.dtype([("timestamp_us", "<i8"), *fields]))
    found["timestamp_us"] = motion.timestamp_us
    return found
