"""The vehicles that carry sensors: the same number in each scene."""

import importlib.util

from uavsim.environment import install_line
from uavsim.ingredients.ground.rig import check_in_town, rig_on_ground
from uavsim.ingredients.vehicles.config import Vehicles
from uavsim.ingredients.vehicles.records import VehiclesPlan
from uavsim.plan.ingredients import ScenePlanner, TownPlan
from uavsim.records.sensors import Agent
from uavsim.typing import JsonDict


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same for each scene.

    Raises:
        ConfigError: there is less traffic than that, a place is outside of the town, or the rig is not possible.
    """
    block: Vehicles = town.block
    rig_name, rig = rig_on_ground(town)
    traffic = town.dataset.model.block("traffic").vehicles
    there = traffic if town.share.vehicles is None else town.share.vehicles
    if block.count > there:
        what = f"{block.count} vehicles of the traffic cannot carry sensors, {town.town.name} has {there} (traffic.vehicles)"
        raise town.dataset.error(("vehicles", "count"), what)
    if block.can_bus and town.dataset.model.recording != "full":
        what = "the CAN bus is made of the motion of every tick, which recording: keyframes does not keep"
        raise town.dataset.error(("vehicles", "can_bus"), what)
    if block.can_bus and importlib.util.find_spec("pyarrow") is None:
        what = f"streams are written as Parquet by pyarrow: {install_line('streams')}"
        raise town.dataset.error(("vehicles", "can_bus"), what)
    for number, (x, y) in enumerate(block.at):
        check_in_town(town, ("vehicles", "at", number), (x, y))
    return VehiclesPlan(
        tuple(Agent(number, "vehicle") for number in range(block.count)),
        rig,
        rig_name,
        block.labels_itself,
        near=block.near,
        within_m=block.within_m,
        blueprint=block.blueprint,
        at=block.at,
        can_bus=block.can_bus,
    )


def summary(planned: VehiclesPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    return {"sensing cars": f"{len(planned.agents)} {planned.rig_name}"}
