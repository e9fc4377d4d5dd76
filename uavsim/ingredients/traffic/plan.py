"""Vehicle blueprints: UAV3D's 17 cars, and the names that CARLA gave them later."""

from typing import Final

from uavsim.ingredients.traffic.config import Traffic
from uavsim.ingredients.traffic.records import TrafficPlan
from uavsim.plan.ingredients import ScenePlanner, TownPlan
from uavsim.records.classes import UAV3D_CARS
from uavsim.typing import JsonDict

__all__ = ["RENAMED", "UAV3D_CARS", "blueprints", "planner", "summary"]


RENAMED: Final = {
    "vehicle.dodge_charger.police": "vehicle.dodge.charger_police",
    "vehicle.lincoln.mkz2017": "vehicle.lincoln.mkz_2017",
    "vehicle.mercedes-benz.coupe": "vehicle.mercedes.coupe",
    "vehicle.mini.cooperst": "vehicle.mini.cooper_s",
    "vehicle.mustang.mustang": "vehicle.ford.mustang",
    "vehicle.bmw.isetta": "vehicle.micro.microlino",
}
"""Names up to CARLA 0.9.11 to names from 0.9.12 on."""


def blueprints(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Write groups out and old names in today's; empty means every four-wheeler of the simulator."""
    if "all" in ids:
        return ()
    written_out = [name for word in ids for name in (UAV3D_CARS if word == "uav3d" else (word,))]
    return tuple(dict.fromkeys(RENAMED.get(name, name) for name in written_out))


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same traffic for each scene; a town may have a number of vehicles of its own."""
    traffic: Traffic = town.block
    planned = TrafficPlan(
        vehicles=traffic.vehicles if town.share.vehicles is None else town.share.vehicles,
        blueprints=blueprints(traffic.blueprints.ids),
        hybrid_physics=traffic.hybrid_physics,
        speed_difference_percent=traffic.speed_difference_percent,
        following_distance_m=traffic.following_distance_m,
        spawn_on_waypoints=traffic.spawn_on_waypoints,
    )
    return lambda _: planned


def summary(planned: TrafficPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    return {"vehicles": planned.vehicles}
