"""The list of a town's objects, from which some builds omit vehicles."""

from dataclasses import dataclass
from typing import Any, Final

from headless_simulator.behaviours import Behaviours
from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.carla.methods.environment import ANY
from headless_simulator.carla.values import pose_wire, static_box_wire
from headless_simulator.rpc.arguments import Integer
from headless_simulator.scene import TAG
from headless_simulator.world.world import World

_VEHICLES: Final = frozenset(TAG[name] for name in ("car", "truck", "bus", "motorcycle", "bicycle"))


@dataclass(frozen=True, slots=True)
class ListingContext:
    """The state used by this method."""

    world: World
    behaviours: Behaviours


def get_environment_objects(context: ListingContext, tag: Integer) -> list[Any]:
    """Return every static object of a tag (255: all): [transform, world box, id, name, tag]."""
    unlisted_tags = _VEHICLES if context.behaviours["parked"] == "unlisted" else ()
    return [
        [pose_wire(item.pose), static_box_wire(item), item.object_id, item.name, item.tag]
        for item in context.world.scenery.listed
        if tag in (ANY, item.tag) and item.tag not in unlisted_tags
    ]


METHODS: Final[tuple[CarlaMethod[ListingContext], ...]] = declared(__name__)
