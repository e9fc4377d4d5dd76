"""A plan's records of roadside units."""

from __future__ import annotations

from dataclasses import dataclass

from uavsim.records.sensors import AgentsPlan

__all__ = ["RoadsidePlan"]


@dataclass(frozen=True, slots=True)
class RoadsidePlan(AgentsPlan):
    """The first units are at given places; the others at junctions, which are found on the simulator's map.

    Attributes:
        pole_m: height above the ground.
        at: (x, y, yaw) of the map frame, metres and degrees.
    """

    pole_m: float
    at: tuple[tuple[float, float, float], ...]
