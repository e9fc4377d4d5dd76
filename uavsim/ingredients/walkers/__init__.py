"""Pedestrians under CARLA's walker controllers."""

from typing import Final

from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.walkers"
INGREDIENT: Final = Ingredient(
    key="traffic",
    block=Named("uavsim.ingredients.traffic.config:Traffic"),
    always=True,
    order=20,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    kinds=(ActorKind(name="walker", label="pedestrian", origin_at_middle=True, control="walker"),),
    spawn=Named(f"{_HERE}.carla:spawn"),
    spawn_order=3,
)
