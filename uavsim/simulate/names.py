"""Names that both a simulator's settings and its client must agree on."""

from __future__ import annotations

__all__ = ["vehicle_name"]


def vehicle_name(drone_id: int) -> str:
    """Name the drone in AirSim's settings: ``uav0``."""
    return f"uav{drone_id}"
