"""Intruders that fly towards the swarm, on paths solved from the requested encounters."""

from typing import Final

from uavsim.records.ingredients import ActorKind, FileKind, Ingredient
from uavsim.registry import Named

INGREDIENT: Final = Ingredient(
    key="encounters",
    block=Named("uavsim.config.base:Reference"),
    about="Intruders that approach the swarm.",
    files={
        "encounters": FileKind(
            folder="encounters",
            spoken="file of encounters",
            model=Named(f"{__name__}.encounters_config:EncountersConfig"),
        )
    },
    order=40,
    records=(Named(f"{__name__}.intruder_plans:IntruderPlan"), Named(f"{__name__}.intruder_plans:IntrudersPlan")),
    planner=Named(f"{__name__}.plan_encounters:planner"),
    whole_scenes=True,
    show=Named(f"{__name__}.show:show_encounters"),
    show_json=Named(f"{__name__}.show:encounters_as_json"),
    without=Named(f"{__name__}.plan_encounters:without"),
    kinds=(ActorKind(name="intruder", is_lone=True),),
    role="intruder",
    spawn=Named("uavsim.ingredients.carla.intruders:spawn"),
    spawn_order=4,
    labels=Named(f"{__name__}.labels:intruder_labels"),
    rows=Named(f"{__name__}.encounter_rows:rows"),
)
