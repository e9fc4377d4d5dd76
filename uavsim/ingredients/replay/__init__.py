"""A recorded scene shown again: each actor is put where it was, at each tick, in place of everything else."""

from typing import Final

from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.replay"
INGREDIENT: Final = Ingredient(
    key="replay",  # of no dataset's YAML: ``uavsim replay`` asks for it
    order=120,
    records=f"{_HERE}.records",
    spawn=Named(f"{_HERE}.carla:spawn"),
    stands_in=True,
    flight=Named(f"{_HERE}.plan:flight"),
)
