"""Parked vehicles that are parts of the town, labelled as vehicles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

__all__ = ["INGREDIENT", "ParkedPlan", "planner"]

INGREDIENT: Final = Ingredient(
    key="traffic",
    block=Named("uavsim.ingredients.traffic:Traffic"),
    always=True,
    order=50,
    records=__name__,
    planner=Named(f"{__name__}:planner"),
    # an actor's blueprint is ``environment.<name in the town>``, its origin the middle of its box's bottom
    kinds=(ActorKind(name="environment", is_of_town=True, is_parked=True),),
    spawn=Named(f"{__name__}_carla:spawn"),
    spawn_order=9,
)


@dataclass(frozen=True, slots=True)
class ParkedPlan:
    """They are read when the scene begins; there is nothing to choose."""


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same for each scene; none where the dataset does not label them."""
    return ParkedPlan() if town.block.label_parked else None
