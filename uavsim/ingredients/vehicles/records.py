"""What a plan says of vehicles that carry sensors."""

from __future__ import annotations

from dataclasses import dataclass

from uavsim.records.sensors import AgentsPlan

__all__ = ["VehiclesPlan"]


@dataclass(frozen=True, slots=True)
class VehiclesPlan(AgentsPlan):
    """Which vehicles of the traffic they are, the simulator decides: those nearest to where the swarm starts."""
