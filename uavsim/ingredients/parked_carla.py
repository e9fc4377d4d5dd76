"""A town's parked vehicles in a CARLA world: CARLA's objects come in, our records go out. Imports ``carla``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np

from uavsim.geometry import quaternion, unreal
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.parked import ParkedPlan
from uavsim.records.classes import VEHICLE_OF_TAG
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.carla.read import NOTHING_PARKED, Parked
from uavsim.simulate.carla.spawning import SpawnContext, Spawned

_LABELS: Final = tuple(getattr(carla.CityObjectLabel, label.capitalize()) for label in VEHICLE_OF_TAG.values())


def spawn(context: SpawnContext, record: ParkedPlan) -> Spawned:
    """Spawn nothing: they are there."""
    del record
    return _Parked(world=context.world)


def parked_objects(world: carla.World) -> list[carla.EnvironmentObject]:
    """Return the town's objects that are parked vehicles, in the order in which they are numbered."""
    return in_order(o for label in _LABELS for o in world.get_environment_objects(label))


@dataclass(slots=True, eq=False, kw_only=True)
class _Parked(Spawned):
    world: carla.World

    def scenery(self, first_instance_id: int) -> Parked:
        """See ``Spawned``."""
        return parked_vehicles(parked_objects(self.world), first_instance_id=first_instance_id)


def in_order(objects: Iterable[Any]) -> list[Any]:
    """Return a town's objects in the order in which parked vehicles are numbered."""
    return sorted(objects, key=lambda o: (str(o.name), int(o.id)))


def parked_vehicles(objects: Iterable[Any], *, first_instance_id: int) -> Parked:
    """Describe environment objects as standing vehicles, in the order of their names.

    A town's object has no origin that means anything, so the middle of its box's bottom stands for it. CARLA gives the
    box in world coordinates.
    """
    found = in_order(objects)
    if not found:
        return NOTHING_PARKED
    boxes = [o.bounding_box for o in found]
    half = np.array([(b.extent.x, b.extent.y, b.extent.z) for b in boxes], dtype=np.float64)
    ue_euler_deg = np.array([(b.rotation.roll, b.rotation.pitch, b.rotation.yaw) for b in boxes], dtype=np.float64)
    centres_ue_m = np.array([(b.location.x, b.location.y, b.location.z) for b in boxes], dtype=np.float64)
    map_SE3_box = unreal.map_SE3_flu_from_ue(centres_ue_m, ue_euler_deg=ue_euler_deg)
    bottom_m = half * (0.0, 0.0, -1.0)
    ids = np.arange(first_instance_id, first_instance_id + len(found), dtype=np.int64)
    infos = tuple(
        ActorInfo(
            instance_id=int(ids[row]),
            simulator_actor_id=0,
            kind="environment",
            blueprint=f"environment.{thing.name}",
            base_type=VEHICLE_OF_TAG.get(int(thing.type), ""),
            half_extent_m=(float(half[row, 0]), float(half[row, 1]), float(half[row, 2])),
            actor_SE3_box=SE3(quaternion.IDENTITY, half[row] * (0.0, 0.0, 1.0)),
            semantic_tag=int(thing.type),
            attributes={"role_name": "parked"},
        )
        for row, thing in enumerate(found)
    )
    still = np.zeros((len(found), 3))
    map_SE3_actor = SE3(map_SE3_box.quat_wxyz, map_SE3_box.apply(bottom_m))
    states = ActorStates(ids, map_SE3_actor, ue_euler_deg, still, still, still)
    return Parked(infos, states)
