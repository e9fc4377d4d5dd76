"""Objects that ordinary traffic never shows, where the town's map allows them and a camera sees them."""

from typing import Final

from uavsim.records.ingredients import ActorKind, FileKind, Ingredient
from uavsim.registry import Named

_HERE: Final = "uavsim.ingredients.corner_cases"
INGREDIENT: Final = Ingredient(
    key="corner_cases",
    block=Named(f"{_HERE}.config:CornerCaseChoice"),
    about="Objects that ordinary traffic never shows, in every scene.",
    files={
        "corner_cases": FileKind(
            folder="corner_cases",
            spoken="file of corner cases",
            model=Named(f"{_HERE}.config:CornerCases"),
            check=Named(f"{_HERE}.plan:check_words"),
        )
    },
    order=30,
    records=f"{_HERE}.records",
    planner=Named(f"{_HERE}.plan:planner"),
    adds_objects=True,
    sites=Named(f"{_HERE}.plan:sites"),
    summary=Named(f"{_HERE}.plan:summary"),
    summary_json=Named(f"{_HERE}.plan:summary_json"),
    without=Named(f"{_HERE}.plan:without"),
    kinds=(
        ActorKind(name="prop", label="debris", is_prop=True, has_own_tag=True, may_hide=False),
        ActorKind(
            name="case_vehicle", written_as="vehicle", is_parked=True, is_ridden=True, may_hide=False, control="vehicle"
        ),
    ),
    role="corner_case",
    spawn=Named(f"{_HERE}.carla:spawn"),
    spawn_order=1,  # vehicles keep clear of them
    finish=Named(f"{_HERE}.carla:finish"),
    rows=Named(f"{_HERE}.rows:rows"),
)
