"""A plan's records of vehicles that carry sensors."""

from __future__ import annotations

from dataclasses import dataclass

from uavsim.records.sensors import AgentsPlan

__all__ = ["VehiclesPlan"]


@dataclass(frozen=True, slots=True)
class VehiclesPlan(AgentsPlan):
    """The request for sensing vehicles; the simulator decides which: those nearest to where the swarm starts."""
