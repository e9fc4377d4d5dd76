"""The choice of whether a scene's parked vehicles are read: the dataset's."""

from uavsim.ingredients.parked.records import ParkedPlan
from uavsim.plan.ingredients import ScenePlanner, TownPlan


def planner(town: TownPlan) -> ScenePlanner | None:
    """Return the same for each scene; none where the dataset does not label them."""
    return (lambda _: ParkedPlan()) if town.block.label_parked else None
