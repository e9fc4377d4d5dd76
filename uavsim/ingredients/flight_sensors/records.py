"""A plan's record of the sensors of flight controllers."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["FlightSensorsPlan"]


@dataclass(frozen=True, slots=True)
class FlightSensorsPlan:
    """The sensors of every drone and sensing car; errors are drawn from ``seed``, each carrier's its own.

    Attributes:
        drones: kind -> the keys of its block in the YAML, with the rate that was settled.
        vehicles: the same of each sensing car.
        flown: drones' motion is what the simulator reported at its steps; else it is the plan's, known between steps, too.
    """

    seed: int
    drones: dict[str, dict[str, Any]]
    vehicles: dict[str, dict[str, Any]] = field(default_factory=dict)
    flown: bool = False
