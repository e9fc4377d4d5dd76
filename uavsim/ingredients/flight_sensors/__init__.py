"""Sensors of a flight controller: IMU, GNSS, barometer and magnetometer of each drone, at rates of their own."""

from typing import Final

from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.flight_sensors"
INGREDIENT: Final = Ingredient(
    key="flight_sensors",
    block=Named(f"{_HERE}.config:FlightSensors"),
    about="IMU, GNSS, barometer and magnetometer of each drone, at rates of their own, with the truth beside.",
    order=90,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    summary=Named(f"{_HERE}.plan:summary"),
    files_made=Named(f"{_HERE}.files:write_streams"),
    folders=("streams",),
    rows=Named(f"{_HERE}.files:rows"),
)
