"""The key ``drone_bodies`` of a dataset's YAML."""

from typing import Annotated

from pydantic import Field

from uavsim.config.base import Metres3, Model


class DroneBodies(Model):
    """Bodies that show the swarm's drones."""

    blueprint: Annotated[str, Field(min_length=1)] = "static.prop.drone"
    """Of the simulator, or a static mesh of its content, /Game/...; a stock CARLA has nothing that flies."""
    size_m: Metres3 = (1.2, 1.2, 0.5)
    """Length, width and height into which the body fits."""
    above_m: Annotated[float, Field(gt=0, le=5)] | None = None
    """Its middle above the drone's origin; by default so low that none of the drone's own cameras and lidars sees it."""
