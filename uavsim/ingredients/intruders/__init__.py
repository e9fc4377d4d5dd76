"""Intruders that fly into the swarm's way, on paths that are solved from how they are to pass."""

from typing import Final

from uavsim.records.ingredients import ActorKind, FileKind, Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.intruders"
INGREDIENT: Final = Ingredient(
    key="encounters",
    block=Named("uavsim.config.base:Reference"),
    about="What flies into the swarm's way.",
    files={
        "encounters": FileKind(
            folder="encounters", spoken="file of encounters", model=Named(f"{_HERE}.config:EncountersConfig")
        )
    },
    order=40,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    whole_scenes=True,
    show=Named(f"{_HERE}.show:show_encounters"),
    show_json=Named(f"{_HERE}.show:encounters_as_json"),
    without=Named(f"{_HERE}.plan:without"),
    kinds=(ActorKind(name="intruder", has_box=False, has_own_tag=True, is_lone=True),),
    role="intruder",
    spawn=Named(f"{_HERE}.carla:spawn"),
    spawn_order=4,
    labels=Named(f"{_HERE}.labels:intruder_labels"),
    rows=Named(f"{_HERE}.rows:rows"),
)
