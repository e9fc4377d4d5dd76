"""The key ``vehicles`` of a dataset's YAML."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from uavsim.config.base import Metres2, Reference
from uavsim.ingredients.ground.config import OnGround
from uavsim.ingredients.vehicles.records import Near


def _is_false(value: bool) -> bool:
    """Leave the default out of what names a dataset, so that datasets from before the key was there keep their name."""
    return not value


class Vehicles(OnGround):
    """Cars of the traffic that carry sensors."""

    key: ClassVar = "vehicles"

    count: Annotated[int, Field(ge=1, le=50)]
    """Of the traffic's cars on which the rig fits, the nearest."""
    near: Near = "start"
    """To where the swarm starts, or to the whole way of its first drone (``route``)."""
    within_m: Annotated[float, Field(gt=0, le=10_000)] | None = None
    """And not farther than this from there; a scene in which one gets farther from every drone is void."""
    blueprint: Annotated[str, Field(min_length=1)] = "*"
    """Pattern that their blueprint matches: ``vehicle.tesla.*``."""
    at: Annotated[tuple[Metres2, ...], Field(max_length=50)] = ()
    """x and y in the map frame: the first ones are the cars nearest to these places; of datasets with one town."""
    rig: Reference = "nuscenes_car"
    labels_itself: bool = False
    """A car has its own box in its own images, too."""
    can_bus: Annotated[bool, Field(exclude_if=_is_false)] = False
    """Each car's state at every tick is kept, of which ``uavsim export --format agents`` makes nuScenes' CAN bus messages."""

    @model_validator(mode="after")
    def _places_have_agents(self) -> Self:
        if len(self.at) > self.count:
            raise ValueError(f"at names {len(self.at)} places for {self.count} vehicles")
        return self
