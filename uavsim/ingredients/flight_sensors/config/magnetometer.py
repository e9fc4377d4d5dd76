"""A magnetometer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from uavsim.config.base import Metres3
from uavsim.ingredients.flight_sensors.config.unit import VECTOR, NotNegative, Stream, Unit, empty

if TYPE_CHECKING:
    from uavsim.ingredients.flight_sensors.motion import Motion


class Magnetometer(Unit):
    """A magnetometer; the Earth's field is the same all over a town."""

    usual_hz: ClassVar = 50.0

    field_map_ut: Metres3 = (0.0, 20.0, -44.0)
    """The Earth's field in the map frame (x east, y north, z up), microtesla."""
    white_ut: NotNegative = 0.3
    hard_iron_ut: NotNegative = 0.0
    """Standard deviation of the constant error of each axis."""

    def read(self, motion: Motion, rng: np.random.Generator) -> Stream:
        """Return the field in flu, microtesla."""
        found = empty(motion, ("field_ut", *VECTOR), ("field_true_ut", *VECTOR))
        field_ut = np.tile(np.array(self.field_map_ut), (len(found), 1))
        found["field_true_ut"] = motion.turn.apply(field_ut, inverse=True)
        constant = rng.normal(0.0, self.hard_iron_ut, 3)
        found["field_ut"] = found["field_true_ut"] + constant + rng.normal(0.0, self.white_ut, (len(found), 3))
        return found
