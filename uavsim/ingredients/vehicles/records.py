"""A plan's records of vehicles that carry sensors."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from uavsim.records.sensors import AgentsPlan

__all__ = ["Near", "VehiclesPlan"]

Near: TypeAlias = Literal["start", "route"]


@dataclass(frozen=True, slots=True)
class VehiclesPlan(AgentsPlan):
    """The request for sensing vehicles; the simulator decides which of the traffic's cars they are.

    Attributes:
        near: nearest to where the swarm starts, or to the whole way of its first drone.
        within_m: farthest from there; a scene in which one gets farther from every drone is void.
        blueprint: pattern that theirs matches.
        at: (x, y) of the map frame, metres: the first agents are the cars nearest to these places.
        can_bus: their state at every tick is kept.
    """

    near: Near = "start"
    within_m: float | None = None
    blueprint: str = "*"
    at: tuple[tuple[float, float], ...] = ()
    can_bus: bool = False

    @property
    def farthest_m(self) -> float | None:
        """See ``AgentsPlan``."""
        return self.within_m
