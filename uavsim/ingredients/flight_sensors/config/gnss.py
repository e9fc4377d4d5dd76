"""A receiver of satellites' signals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from uavsim.ingredients.flight_sensors.config.unit import VECTOR, NotNegative, Stream, Unit, empty
from uavsim.ingredients.flight_sensors.geodesy import geodetic_from_map

if TYPE_CHECKING:
    from uavsim.ingredients.flight_sensors.motion import Motion


class Gnss(Unit):
    """A receiver in the carrier's origin; its errors are white."""

    usual_hz: ClassVar = 5.0

    horizontal_m: NotNegative = 1.0
    """Standard deviation of the error to the east and to the north."""
    vertical_m: NotNegative = 1.5
    velocity_mps: NotNegative = 0.05
    origin_deg_m: tuple[
        Annotated[float, Field(ge=-89, le=89)], Annotated[float, Field(ge=-180, le=180)], Annotated[float, Field()]
    ] = (47.641468, -122.140165, 122.0)
    """Latitude, longitude (degrees) and height (m, WGS 84) of the map's origin, whose x is east; AirSim's home by default."""

    def read(self, motion: Motion, rng: np.random.Generator) -> Stream:
        """Return latitude, longitude (degrees), height (m) and velocity in the map frame."""
        names = ("lat_lon_deg_height_m", "velocity_map_mps", "lat_lon_deg_height_m_true", "velocity_map_true_mps")
        found = empty(motion, *((name, *VECTOR) for name in names))
        place_m, velocity_mps = motion.position_map_m, motion.velocity_map_mps
        off_m = rng.normal(0.0, (self.horizontal_m, self.horizontal_m, self.vertical_m), place_m.shape)
        found["lat_lon_deg_height_m_true"] = geodetic_from_map(place_m, self.origin_deg_m)
        found["lat_lon_deg_height_m"] = geodetic_from_map(place_m + off_m, self.origin_deg_m)
        found["velocity_map_true_mps"] = velocity_mps
        found["velocity_map_mps"] = velocity_mps + rng.normal(0.0, self.velocity_mps, velocity_mps.shape)
        return found
