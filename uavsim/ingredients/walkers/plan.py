"""The walkers of a scene: a number of the dataset's."""

from uavsim.ingredients.walkers.records import WalkersPlan
from uavsim.plan.ingredients import ScenePlanner, TownPlan


def planner(town: TownPlan) -> ScenePlanner | None:
    """Return the same number for each scene; none where the dataset has no walkers."""
    planned = WalkersPlan(town.block.walkers)
    return (lambda _: planned) if planned.walkers else None
