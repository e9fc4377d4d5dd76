"""A town's parked vehicles in a CARLA world. Imports ``carla``."""

from dataclasses import dataclass
from typing import Final

import carla

from uavsim.ingredients.parked.read import in_order, parked_vehicles
from uavsim.ingredients.parked.records import ParkedPlan
from uavsim.records.classes import VEHICLE_OF_TAG
from uavsim.simulate.carla.read import Parked
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
