"""A plan's records of vehicles that carry sensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from uavsim.records.sensors import AgentsPlan

__all__ = ["Near", "VehiclesPlan"]

Near: TypeAlias = Literal["start", "route"]
_LATER: Final = {"left_out_as_default": True}  # of fields that came after plans had been hashed


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

    near: Near = field(default="start", metadata=_LATER)
    within_m: float | None = field(default=None, metadata=_LATER)
    blueprint: str = field(default="*", metadata=_LATER)
    at: tuple[tuple[float, float], ...] = field(default=(), metadata=_LATER)
    can_bus: bool = field(default=False, metadata=_LATER)

    @property
    def farthest_m(self) -> float | None:
        """See ``AgentsPlan``."""
        return self.within_m
