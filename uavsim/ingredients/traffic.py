"""Vehicles that drive by CARLA's Traffic Manager; the key ``traffic`` says of walkers and parked vehicles, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import Field, StringConstraints, model_validator

from uavsim.config.base import BLUEPRINT, Model
from uavsim.records.classes import UAV3D_CARS
from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

__all__ = ["INGREDIENT", "RENAMED", "Blueprints", "Traffic", "TrafficPlan", "blueprints", "planner", "summary"]

INGREDIENT: Final = Ingredient(
    key="traffic",
    block=Named(f"{__name__}:Traffic"),
    always=True,
    order=10,
    records=__name__,
    planner=Named(f"{__name__}:planner"),
    summary=Named(f"{__name__}:summary"),
    kinds=(ActorKind(name="vehicle", is_ridden=True, is_driven=True),),
    spawn=Named(f"{__name__}_carla:spawn"),
    spawn_order=2,
)

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


@dataclass(frozen=True, slots=True)
class TrafficPlan:
    """The requested vehicles; the recording says what spawned."""

    vehicles: int
    blueprints: tuple[str, ...] = ()  # allowed vehicle blueprints of the server's version; empty: every four-wheeler
    hybrid_physics: bool = False
    speed_difference_percent: float = 0.0  # Traffic Manager: negative drives faster than the limit
    following_distance_m: float = 2.5
    spawn_on_waypoints: bool = True  # fill up on lane waypoints when the map has too few spawn points


RENAMED: Final = {
    "vehicle.dodge_charger.police": "vehicle.dodge.charger_police",
    "vehicle.lincoln.mkz2017": "vehicle.lincoln.mkz_2017",
    "vehicle.mercedes-benz.coupe": "vehicle.mercedes.coupe",
    "vehicle.mini.cooperst": "vehicle.mini.cooper_s",
    "vehicle.mustang.mustang": "vehicle.ford.mustang",
    "vehicle.bmw.isetta": "vehicle.micro.microlino",
}
"""Names up to CARLA 0.9.11 to names from 0.9.12 on."""


def blueprints(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Write groups out and old names in today's; empty means every four-wheeler of the simulator."""
    if "all" in ids:
        return ()
    written_out = [name for word in ids for name in (UAV3D_CARS if word == "uav3d" else (word,))]
    return tuple(dict.fromkeys(RENAMED.get(name, name) for name in written_out))


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same traffic for each scene; a town may have a number of vehicles of its own."""
    traffic: Traffic = town.block
    return TrafficPlan(
        vehicles=traffic.vehicles if town.share.vehicles is None else town.share.vehicles,
        blueprints=blueprints(traffic.blueprints.ids),
        hybrid_physics=traffic.hybrid_physics,
        speed_difference_percent=traffic.speed_difference_percent,
        following_distance_m=traffic.following_distance_m,
        spawn_on_waypoints=traffic.spawn_on_waypoints,
    )


def summary(planned: TrafficPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    return {"vehicles": planned.vehicles}
