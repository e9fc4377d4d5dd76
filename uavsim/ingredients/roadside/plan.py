"""The roadside units: the same number in each scene."""

from uavsim.ingredients.ground.rig import check_in_town, check_outside, rig_on_ground
from uavsim.ingredients.roadside.config import Roadside
from uavsim.ingredients.roadside.records import RoadsidePlan
from uavsim.plan.ingredients import ScenePlanner, TownPlan
from uavsim.records.sensors import Agent
from uavsim.typing import JsonDict


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same for each scene.

    Raises:
        ConfigError: a place is outside of the town or in a building, or the rig is not possible.
    """
    block: Roadside = town.block
    rig_name, rig = rig_on_ground(town)
    for number, place in enumerate(block.at):
        where = ("roadside", "at", number, "position_m")
        check_in_town(town, where, place.position_m)
        check_outside(town, where, place.position_m, height_m=block.pole_m)
    agents = tuple(Agent(number, "roadside") for number in range(len(block.at) + block.count))
    at = tuple((*place.position_m, place.yaw_deg) for place in block.at)
    return RoadsidePlan(agents, rig, rig_name, labels_itself=False, pole_m=block.pole_m, at=at, within_m=block.within_m)


def summary(planned: RoadsidePlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    return {"roadside": f"{len(planned.agents)} {planned.rig_name}"}
