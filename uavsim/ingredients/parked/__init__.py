"""Parked vehicles that are parts of the town, labelled as vehicles."""

from typing import Final

from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.parked"
INGREDIENT: Final = Ingredient(
    key="traffic",
    block=Named("uavsim.ingredients.traffic.config:Traffic"),
    always=True,
    order=50,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    # an actor's blueprint is ``environment.<name in the town>``, its origin the middle of its box's bottom
    kinds=(ActorKind(name="environment", is_of_town=True, is_parked=True),),
    spawn=Named(f"{_HERE}.carla:spawn"),
    spawn_order=9,
)
