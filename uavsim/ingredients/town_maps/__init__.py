"""Vector maps of the towns that are flown, written beside the dataset's tables."""

from typing import Final

from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.town_maps"
INGREDIENT: Final = Ingredient(
    key="maps",
    block=Named(f"{_HERE}.config:Maps"),
    about="Vector maps of the towns' roads, in the dataset's own frame: nuScenes' map expansion, GeoJSON, a lane graph.",
    order=100,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    summary=Named(f"{_HERE}.plan:summary"),
    town_files=Named(f"{_HERE}.plan:town_files"),
    town_buildings=Named(f"{_HERE}.plan:town_buildings"),
)
