"""A barometer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from uavsim.ingredients.flight_sensors.config.unit import NotNegative, Stream, Unit, empty

if TYPE_CHECKING:
    from uavsim.ingredients.flight_sensors.motion import Motion


class Barometer(Unit):
    """A barometer in the standard atmosphere."""

    usual_hz: ClassVar = 50.0

    white_pa: NotNegative = 2.0
    random_walk_pa: NotNegative = 0.5
    """Of the pressure's slow error, a square root of a second."""
    sea_level_pa: Annotated[float, Field(gt=0)] = 101325.0
    origin_height_m: float = 122.0
    """Height of the map's origin above the sea."""

    def read(self, motion: Motion, rng: np.random.Generator) -> Stream:
        """Return pressures. Source: U.S. Standard Atmosphere 1976, the layer below 11 km."""
        found = empty(motion, ("pressure_pa", "<f8"), ("pressure_true_pa", "<f8"))
        height_m = self.origin_height_m + motion.position_map_m[:, 2]
        found["pressure_true_pa"] = self.sea_level_pa * (1.0 - 0.0065 * height_m / 288.15) ** 5.255_88
        walk = rng.normal(0.0, self.random_walk_pa / np.sqrt(self.hz), len(found))
        found["pressure_pa"] = found["pressure_true_pa"] + np.cumsum(walk) + rng.normal(0.0, self.white_pa, len(found))
        return found
