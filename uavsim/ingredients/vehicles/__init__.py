"""Vehicles of the traffic that carry sensors."""

from typing import Final

from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.vehicles"
INGREDIENT: Final = Ingredient(
    key="vehicles",
    block=Named(f"{_HERE}.config:Vehicles"),
    about="Cars of the traffic that carry sensors: those nearest to where the swarm starts.",
    order=60,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    summary=Named(f"{_HERE}.plan:summary"),
    spawn=Named(f"{_HERE}.carla:spawn"),
    spawn_order=6,  # traffic is there
    files_made=Named(f"{_HERE}.can_bus:write_streams"),
    folders=("streams",),
    rows=Named(f"{_HERE}.can_bus:rows"),
)
