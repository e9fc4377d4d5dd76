"""The encounters in ``uavsim plan``: a table of them, what they come to beside what is wanted, and an image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from uavsim.config.library import Library
from uavsim.files.whole import write_whole
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, intruders_of
from uavsim.terminal import columns_screen, count, first_rows
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.ingredients.intruders.coverage import Covered
    from uavsim.records.plan import ScenePlan

_MOST_DRAWN = 12
_FIGURES = ("range_m", "closing_mps", "azimuth_deg", "elevation_deg", "begin_s", "cpa_s", "cpa_m")


def show_encounters(dataset: str, plans: Sequence[ScenePlan], image: Path | None) -> None:
    """Print the tables, and draw the first scenes' encounters where the plan is drawn.

    Args:
        dataset: as it was asked for.
        plans: its scenes.
        image: of the plan; that of the encounters is written beside it.
    """
    from uavsim.images.codec import encode_png
    from uavsim.ingredients.intruders.chart import draw_encounters

    screen = columns_screen()
    screen.print(_table(plans))
    screen.print(_coverage_table(_covered(dataset, plans)))
    if image is None:
        return
    target = image.with_name(f"{image.stem}-encounters.png")
    drawn = [plan for plan in plans if intruders_of(plan)][:_MOST_DRAWN]
    write_whole(target, encode_png(draw_encounters(drawn)))
    screen.print(f"{target}: the encounters of {count(len(drawn), 'scene')}")


def encounters_as_json(dataset: str, plans: Sequence[ScenePlan]) -> JsonDict:
    """Return the same as JSON."""
    return {
        "encounters": [_as_json(plan, intruder) for plan in plans for intruder in intruders_of(plan)],
        "coverage": [
            {"measure": row.measure, "wanted": row.wanted, "made": row.made} for row in _covered(dataset, plans)
        ],
    }


def _as_json(plan: ScenePlan, intruder: IntruderPlan) -> JsonDict:
    reported: JsonDict = {"scene": plan.scene_name, "name": intruder.name, "kind": intruder.kind, "path": intruder.path}
    reported |= {name: round(getattr(intruder, name), 3) for name in _FIGURES}
    return reported | {
        "profile": intruder.profile,
        "planned": intruder.planned,
        "collision_course": intruder.collision_course,
        "draws": intruder.draws,
    }


def _covered(dataset: str, plans: Sequence[ScenePlan]) -> list[Covered]:
    from uavsim.ingredients.intruders.coverage import coverage

    loaded, library = Library.of().with_dataset(dataset)
    name = loaded.model.block("encounters")
    model = library.of_ingredient("encounters", name, named_in=loaded.source.path).model
    return coverage(plans, model.wanted, within_deg=model.horizon_within_deg)


def _table(plans: Sequence[ScenePlan]) -> Table:
    profile = next(intruder.profile for plan in plans for intruder in intruders_of(plan))
    shown = {"range_m": "range m", "closing_mps": "m/s", "begin_s": "begin s", "cpa_m": "CPA m"}  # 80 characters
    columns = ("scene", "intruder", "path", *shown.values(), "meets")
    rows = [
        (
            plan.scene_name,
            intruder.name,
            intruder.path,
            *(f"{getattr(intruder, name):.1f}" for name in shown),
            "yes" if intruder.collision_course else "no",
        )
        for plan in plans
        for intruder in intruders_of(plan)
    ]
    return first_rows(
        f"encounters, profile {profile}; meets: on collision course", columns, rows, numbers=columns[3:-1]
    )


def _coverage_table(rows: Sequence[Covered]) -> Table:
    table = Table(title="coverage", box=None, pad_edge=False, title_justify="left")
    for column in ("measure", "wanted", "made"):
        table.add_column(column)
    for row in rows:
        table.add_row(row.measure, row.wanted, row.made)
    return table
