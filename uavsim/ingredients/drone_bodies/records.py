"""The plan of the drones' bodies."""

from dataclasses import dataclass
from typing import Final

__all__ = ["AIRSIM_BODY", "DroneBodiesPlan"]

AIRSIM_BODY: Final = "airsim.multirotor"
"""AirSim's own body of a vehicle, which no blueprint names."""


@dataclass(frozen=True, slots=True)
class DroneBodiesPlan:
    """One body for each drone of the swarm.

    Attributes:
        blueprint: what shows them, or the path of a static mesh.
        size_lwh_m: into which the body fits.
        above_m: its middle above the drone's origin, in the drone's own frame.
    """

    blueprint: str
    size_lwh_m: tuple[float, float, float]
    above_m: float
