"""A plan's records of roadside units."""

from dataclasses import dataclass
from typing import Final

from uavsim.records.sensors import AgentsPlan

__all__ = ["PASSED_M", "RoadsidePlan"]

PASSED_M: Final = 100.0


@dataclass(frozen=True, slots=True)
class RoadsidePlan(AgentsPlan):
    """The first units are at given places; the others at junctions, which are found on the simulator's map.

    Attributes:
        pole_m: height above the ground.
        at: (x, y, yaw) of the map frame, metres and degrees.
        within_m: farthest that a junction is from the swarm's way.
    """

    pole_m: float
    at: tuple[tuple[float, float, float], ...]
    within_m: float = PASSED_M
