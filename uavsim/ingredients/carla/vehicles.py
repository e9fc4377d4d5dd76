"""Choose the sensing vehicles among the traffic."""

from typing import Final

import carla
import numpy as np

from uavsim.ingredients.vehicles import CarCandidate, VehiclesPlan, chosen
from uavsim.simulate.carla.spawning import SpawnContext, Spawned

_ROLE: Final = "autopilot"  # of driving vehicles; standing ones have other roles


def spawn(context: SpawnContext, record: VehiclesPlan) -> Spawned:
    """Choose the sensing vehicles among the spawned traffic; spawn nothing.

    Raises:
        SceneVoid: too few vehicles are cars on which the rig fits, or match the request.
    """
    candidates = [
        CarCandidate(v.id, v.type_id, v.get_location().x, -v.get_location().y)
        for v in context.world.get_actors().filter("vehicle.*")
        if _is_driven(v) and _fits(v, record)
    ]
    way_m = context.plan.swarm.map_SE3_flu.translation_m[:, 0, :2]
    return Spawned(agents=dict(zip(record.agents, chosen(candidates, record, way_m), strict=True)))


def _is_driven(vehicle: carla.Actor) -> bool:
    wheels, kind = vehicle.attributes.get("number_of_wheels"), vehicle.attributes.get("base_type", "")
    return vehicle.attributes.get("role_name") == _ROLE and wheels == "4" and kind in ("", "car")


def _fits(vehicle: carla.Actor, record: VehiclesPlan) -> bool:
    """Return whether all sensors are outside a vehicle's box: inside it they would see only the vehicle."""
    box = vehicle.bounding_box
    mounts_m = np.array([spec.mount_t_m for spec in record.rig]) * (1.0, -1.0, 1.0)
    off_m = np.abs(mounts_m - (box.location.x, box.location.y, box.location.z))
    inside = (off_m < (box.extent.x, box.extent.y, box.extent.z)).all(axis=1)
    return not bool(inside.any())
