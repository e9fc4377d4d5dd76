"""The key ``roadside`` of a dataset's YAML."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from uavsim.config.base import Metres2, Model, Reference
from uavsim.ingredients.ground.config import OnGround
from uavsim.ingredients.roadside.records import PASSED_M


class Place(Model):
    """The place of a pole."""

    position_m: Metres2
    """x and y in the map frame; the ground there is the nearest road's."""
    yaw_deg: Annotated[float, Field(ge=-360, le=360)]
    """Where the rig looks: 0 along the map's x, counter-clockwise."""


class Roadside(OnGround):
    """Sensors on poles beside the road."""

    key: ClassVar = "roadside"

    count: Annotated[int, Field(ge=0, le=50)] = 0
    """At junctions that the swarm passes, each pole beside a road that leads there."""
    within_m: Annotated[float, Field(gt=0, le=10_000)] = PASSED_M
    """Farthest that such a junction's middle is from the swarm's way."""
    at: Annotated[tuple[Place, ...], Field(max_length=50)] = ()
    """And at these places; of datasets with one town."""
    rig: Reference = "roadside"
    pole_m: Annotated[float, Field(gt=0, le=50)] = 5.0
    """Height of the rig above the ground."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.count + len(self.at):
            raise ValueError("no unit: give count, or places under at")
        return self
