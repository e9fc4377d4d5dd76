"""Bodies of the swarm's drones: what the other agents see of each."""

from typing import Final

from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.drone_bodies"
INGREDIENT: Final = Ingredient(
    key="drone_bodies",
    block=Named(f"{_HERE}.config:DroneBodies"),
    about="The swarm's drones are seen: each has a body, with a box, a mask and a track.",
    order=80,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    adds_objects=True,
    summary=Named(f"{_HERE}.plan:summary"),
    kinds=(
        ActorKind(name="drone", label="drone", is_drone=True, has_own_tag=True, origin_at_middle=True, may_hide=False),
    ),
    role="swarm_drone",
    spawn=Named(f"{_HERE}.carla:spawn"),
)
