"""Names that both a simulator's settings and its client must agree on."""

from __future__ import annotations

from typing import Final

__all__ = ["LIDAR_NAME", "vehicle_name"]

LIDAR_NAME: Final = "LIDAR"
"""Of the lidar that each drone carries."""


def vehicle_name(drone_id: int) -> str:
    """Name the drone in AirSim's settings: ``uav0``."""
    return f"uav{drone_id}"
