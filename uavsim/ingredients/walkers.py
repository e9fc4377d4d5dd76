"""Pedestrians under CARLA's walker controllers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

__all__ = ["INGREDIENT", "WalkersPlan", "planner"]

INGREDIENT: Final = Ingredient(
    key="traffic",
    block=Named("uavsim.ingredients.traffic:Traffic"),
    always=True,
    order=20,
    records=__name__,
    planner=Named(f"{__name__}:planner"),
    kinds=(ActorKind(name="walker", label="pedestrian", origin_at_middle=True),),
    spawn=Named(f"{__name__}_carla:spawn"),
    spawn_order=3,
)


@dataclass(frozen=True, slots=True)
class WalkersPlan:
    """The requested walkers; the recording says how many spawned."""

    walkers: int


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same number for each scene; none where the dataset has no walkers."""
    return WalkersPlan(town.block.walkers) if town.block.walkers else None
