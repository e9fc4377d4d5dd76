"""Clocks of the drones' own: each takes images at its own times, between keyframes that all take together."""

from typing import Final

from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.clocks"
INGREDIENT: Final = Ingredient(
    key="clocks",
    block=Named(f"{_HERE}.config:Clocks"),
    about="Each agent takes images by a clock of its own, with phase, jitter and drift; keyframes stay synchronous.",
    order=110,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    summary=Named(f"{_HERE}.plan:summary"),
    rows=Named(f"{_HERE}.rows:rows"),
)
