"""Sensors on poles beside the road."""

from typing import Final

from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.roadside"
INGREDIENT: Final = Ingredient(
    key="roadside",
    block=Named(f"{_HERE}.config:Roadside"),
    about="Sensors on poles beside the road.",
    order=70,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    summary=Named(f"{_HERE}.plan:summary"),
    spawn=Named(f"{_HERE}.carla:spawn"),
)
