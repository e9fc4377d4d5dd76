"""The key ``traffic`` of a dataset's YAML: what drives and walks, and whether parked vehicles are labelled."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints, model_validator

from uavsim.config.base import BLUEPRINT, Model

__all__ = ["Blueprints", "Traffic"]

BlueprintId = Annotated[str, StringConstraints(pattern=BLUEPRINT)]


class Blueprints(Model):
    """Vehicle blueprints: a group (``all``, ``uav3d``) or a list of groups and CARLA ids."""

    shorthand: ClassVar = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}

    ids: Annotated[tuple[BlueprintId, ...], Field(min_length=1, max_length=500)]

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"ids": (value,)}
        return {"ids": value} if isinstance(value, tuple) else value


class Traffic(Model):
    """The vehicles and walkers of a scene."""

    vehicles: Annotated[int, Field(ge=0, le=2000)] = 60
    walkers: Annotated[int, Field(ge=0, le=2000)] = 0
    blueprints: Blueprints = Blueprints(ids=("all",))
    """``uav3d``: its 17 cars; ``all``: every four-wheeler; or a list of CARLA blueprint ids."""
    hybrid_physics: bool = False
    speed_difference_percent: Annotated[float, Field(ge=-300, le=100)] = 0.0
    """Below the speed limit; negative drives faster."""
    following_distance_m: Annotated[float, Field(ge=0, le=100)] = 2.5
    spawn_on_waypoints: bool = True
    """Fill up on lanes when the map has too few spawn points."""
    label_parked: bool = True
    """Also parked vehicles that are parts of the town: they are read at the scene's start and get boxes."""
