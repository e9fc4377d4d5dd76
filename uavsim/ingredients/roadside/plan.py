"""The roadside units: the same number in each scene."""

from __future__ import annotations

from uavsim.ingredients.roadside.config import Roadside
from uavsim.ingredients.roadside.records import RoadsidePlan
from uavsim.plan.ground import rig_on_ground
from uavsim.plan.ingredients import ScenePlanner, TownPlan
from uavsim.records.sensors import Agent
from uavsim.typing import JsonDict

__all__ = ["planner", "summary"]


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same for each scene.

    Raises:
        ConfigError: a place is outside of the town, or the rig is not possible.
    """
    block: Roadside = town.block
    rig_name, rig = rig_on_ground(town)
    (x0, x1), (y0, y1) = town.town.x_m, town.town.y_m
    for number, place in enumerate(block.at):
        x, y = place.position_m
        if not (x0 <= x <= x1 and y0 <= y <= y1):
            what = f"x={x:g} y={y:g} is outside {town.town.name} (x {x0:g} to {x1:g}, y {y0:g} to {y1:g})"
            raise town.dataset.error(("roadside", "at", number, "position_m"), what)
    agents = tuple(Agent(number, "roadside") for number in range(len(block.at) + block.count))
    at = tuple((*place.position_m, place.yaw_deg) for place in block.at)
    planned = RoadsidePlan(agents, rig, rig_name, labels_itself=False, pole_m=block.pole_m, at=at)
    return lambda _: planned


def summary(planned: RoadsidePlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    return {"roadside": f"{len(planned.agents)} {planned.rig_name}"}
