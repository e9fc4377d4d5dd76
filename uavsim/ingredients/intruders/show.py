"""The encounters in ``uavsim plan``: a table of them, what they come to beside what is wanted, and an image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from uavsim.config.library import Library
from uavsim.files.whole import write_whole
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, intruders_of
from uavsim.terminal import Screen, count
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.ingredients.intruders.coverage import Covered
    from uavsim.records.plan import ScenePlan

_MOST_DRAWN = 12
_FIGURES = ("range_m", "closing_mps", "azimuth_deg", "elevation_deg", "begin_s", "cpa_s", "cpa_m")


def show_encounters(dataset: str, plans: Sequence[ScenePlan], image: Path, *, wide: int) -> None:
    """Print the tables and write the image.

    Args:
        dataset: as it was asked for.
        plans: its scenes.
        image: of the plan; that of the encounters is written beside it.
        wide: columns where the output is no terminal.
    """
    from uavsim.images.codec import encode_png
    from uavsim.ingredients.intruders.chart import draw_encounters

    screen = Screen()
    screen = screen if screen.is_terminal else Screen(width=wide)
    screen.print(_table(plans))
    screen.print(_coverage_table(_covered(dataset, plans)))
    target = image.with_name(f"{image.stem}-encounters.png")
    drawn = [plan for plan in plans if intruders_of(plan)][:_MOST_DRAWN]
    write_whole(target, encode_png(draw_encounters(drawn)))
    Screen().print(f"{target}: the encounters of {count(len(drawn), 'scene')}")


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
    table = Table(title=f"encounters, profile {profile}")
    columns = (
        "scene",
        "intruder",
        "path",
        "planned",
        "range m",
        "closing m/s",
        "azimuth",
        "elevation",
        "begin s",
        "CPA s",
    )
    for column in (*columns, "CPA m", "collision course"):
        left = column in {"scene", "intruder", "path", "planned", "collision course"}
        table.add_column(column, justify="left" if left else "right")
    for plan in plans:
        for intruder in intruders_of(plan):
            figures = [f"{getattr(intruder, name):.1f}" for name in _FIGURES]
            yes = "yes" if intruder.collision_course else "no"
            planned = "yes" if intruder.planned else "no"
            table.add_row(plan.scene_name, intruder.name, intruder.path, planned, *figures, yes)
    return table


def _coverage_table(rows: Sequence[Covered]) -> Table:
    table = Table(title="coverage")
    for column in ("measure", "wanted", "made"):
        table.add_column(column)
    for row in rows:
        table.add_row(row.measure, row.wanted, row.made)
    return table
