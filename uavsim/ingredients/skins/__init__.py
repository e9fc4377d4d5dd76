"""Another skin of a recorded scene: colours of vehicles and of the town, weather and sun, or other traffic."""

from typing import Final

from uavsim.records.ingredients import FileKind, Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.skins"
INGREDIENT: Final = Ingredient(
    key="skins",  # of no dataset's scenes: ``uavsim twins`` asks for it
    files={
        "skin": FileKind(
            folder="skins",
            spoken="skin",
            model=Named("uavsim.config.skin:Skin"),
            check=Named(f"{_HERE}.plan:check_names"),
        )
    },
    order=130,
    records=f"{_HERE}.records",
    spawn=Named(f"{_HERE}.carla:spawn"),
    rows=Named(f"{_HERE}.tables:rows"),
)
