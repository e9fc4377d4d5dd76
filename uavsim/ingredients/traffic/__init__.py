"""Vehicles that drive by CARLA's Traffic Manager."""

from typing import Final

from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.traffic"
INGREDIENT: Final = Ingredient(
    key="traffic",
    block=Named(f"{_HERE}.config:Traffic"),
    always=True,
    order=10,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    summary=Named(f"{_HERE}.plan:summary"),
    kinds=(ActorKind(name="vehicle", is_ridden=True, control="vehicle"),),
    spawn=Named(f"{_HERE}.carla:spawn"),
    spawn_order=2,
)
