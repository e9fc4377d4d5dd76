"""The key ``flight_sensors`` of a dataset's YAML."""

from collections.abc import Iterator
from typing import Any, Self

from pydantic import ValidationError, model_validator

from uavsim.config.base import Model
from uavsim.errors import DatasetError
from uavsim.ingredients.flight_sensors.config.barometer import Barometer
from uavsim.ingredients.flight_sensors.config.gnss import Gnss
from uavsim.ingredients.flight_sensors.config.imu import Imu
from uavsim.ingredients.flight_sensors.config.magnetometer import Magnetometer
from uavsim.ingredients.flight_sensors.config.unit import Unit

__all__ = ["KINDS", "FlightSensors", "Units"]


class Units(Model):
    """The sensors of one carrier; a kind is a key here."""

    imu: Imu | None = None
    gnss: Gnss | None = None
    barometer: Barometer | None = None
    magnetometer: Magnetometer | None = None

    @classmethod
    def of_record(cls, values: dict[str, Any]) -> Self:
        """Return what a plan's record says.

        Raises:
            DatasetError: it was written by another version, or is damaged.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise DatasetError(f"a plan of flight_sensors is of another version or damaged: {error}") from error

    def asked_for(self) -> Iterator[tuple[str, Unit]]:
        """Yield the kinds that are there, and what is said of each."""
        units = ((kind, getattr(self, kind)) for kind in KINDS)
        return ((kind, unit) for kind, unit in units if unit is not None)


KINDS = tuple(Units.model_fields)
"""Of sensors, in an order that the draws of errors depend on: new ones come last."""


class FlightSensors(Units):
    """IMU, GNSS, barometer and magnetometer of each drone, and of sensing cars."""

    vehicles: Units | None = None
    """The same of each car that carries sensors (key ``vehicles``); its motion is known at the simulator's steps alone."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not [*self.asked_for(), *(self.vehicles.asked_for() if self.vehicles else ())]:
            raise ValueError(f"names no sensor: give one of {', '.join(KINDS)} ({{}} has its defaults)")
        return self
