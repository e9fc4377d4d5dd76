"""The key ``vehicles`` of a dataset's YAML."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from uavsim.config.base import Reference
from uavsim.config.ground import OnGround

__all__ = ["Vehicles"]


class Vehicles(OnGround):
    """Cars of the traffic that carry sensors."""

    key: ClassVar = "vehicles"

    count: Annotated[int, Field(ge=1, le=50)]
    """Of the traffic's vehicles, those nearest to where the swarm starts on which the rig fits."""
    rig: Reference = "nuscenes_car"
    labels_itself: bool = False
    """A car has its own box in its own images, too."""
