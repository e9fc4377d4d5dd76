"""Corner cases: objects that ordinary traffic never has, at places of the town's map in view of a camera."""

from typing import Final

from uavsim.records.ingredients import ActorKind, FileKind, Ingredient
from uavsim.registry import Named

INGREDIENT: Final = Ingredient(
    key="corner_cases",
    block=Named(f"{__name__}.cases_config:CornerCaseChoice"),
    about="Objects that ordinary traffic never shows, in every scene.",
    files={
        "corner_cases": FileKind(
            folder="corner_cases",
            spoken="file of corner cases",
            model=Named(f"{__name__}.cases_config:CornerCases"),
            check=Named(f"{__name__}.plan_cases:check_words"),
        )
    },
    order=30,
    records=tuple(
        Named(f"{__name__}.case_plans:{record}")
        for record in ("CasePart", "CornerCasePlan", "CornerCasesPlan", "TagWords")
    ),
    planner=Named(f"{__name__}.plan_cases:planner"),
    sites=Named(f"{__name__}.plan_cases:sites"),
    summary=Named(f"{__name__}.plan_cases:summary"),
    summary_json=Named(f"{__name__}.plan_cases:summary_json"),
    without=Named(f"{__name__}.plan_cases:without"),
    kinds=(
        ActorKind(name="prop", label="debris", is_prop=True, may_hide=False),
        ActorKind(name="case_vehicle", written_as="vehicle", is_parked=True, may_hide=False),
    ),
    role="corner_case",
    spawn=Named("uavsim.ingredients.carla.corner_cases:spawn"),
    spawn_order=1,  # before vehicles, which keep clear of cases
    finish=Named("uavsim.ingredients.carla.corner_cases:finish"),
    rows=Named(f"{__name__}.case_rows:rows"),
)
