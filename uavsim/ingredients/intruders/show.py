"""The encounters in ``uavsim plan``: a table, the coverage of the YAML's targets, and an image."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

from uavsim.config.library import Library
from uavsim.files.whole import write_whole
from uavsim.images.codec import encode_png
from uavsim.ingredients.intruders.chart import draw_encounters
from uavsim.ingredients.intruders.encounters_config import Limits, Wanted
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, intruders_of
from uavsim.ingredients.intruders.sight import Sighting, is_valid, sighting
from uavsim.records.plan import ScenePlan
from uavsim.terminal import columns_screen, count, first_rows
from uavsim.typing import BoolArray, FloatArray, JsonDict

_MOST_DRAWN = 12
_FIGURES = ("range_m", "closing_mps", "azimuth_deg", "elevation_deg", "begin_s", "cpa_s", "cpa_m")


@dataclass(frozen=True, slots=True)
class Covered:
    """One line of the report."""

    measure: str
    wanted: str
    made: str


def show_encounters(dataset: str, plans: Sequence[ScenePlan], image: Path | None) -> None:
    """Print the tables, and draw the first scenes' encounters if the plan is drawn.

    Args:
        dataset: name of the dataset.
        plans: scenes of the dataset.
        image: image of the plan; the image of the encounters is written beside it.
    """
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
    """Return the encounters and their coverage as JSON."""
    return {
        "encounters": [_as_json(plan, intruder) for plan in plans for intruder in intruders_of(plan)],
        "coverage": [asdict(row) for row in _covered(dataset, plans)],
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
    loaded, library = Library.of().with_dataset(dataset)
    name = loaded.model.block("encounters")
    model = library.of_ingredient("encounters", name, named_in=loaded.source.path).model
    return coverage(plans, model.wanted, within_deg=model.horizon_within_deg)


def _table(plans: Sequence[ScenePlan]) -> Table:
    profile = next(intruder.profile for plan in plans for intruder in intruders_of(plan))
    headings = {"range_m": "range m", "closing_mps": "m/s", "begin_s": "begin s", "cpa_m": "CPA m"}  # 80 characters
    columns = ("scene", "intruder", "path", *headings.values(), "meets")
    rows = [
        (
            plan.scene_name,
            intruder.name,
            intruder.path,
            *(f"{getattr(intruder, name):.1f}" for name in headings),
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


def coverage(plans: Sequence[ScenePlan], targets: Wanted, *, within_deg: float) -> list[Covered]:
    """Return target and planned values, a line per measure; shares of images count only images with an intruder.

    Args:
        plans: scenes of a dataset.
        targets: targets of the dataset's YAML.
        within_deg: greatest angle from the horizon that counts as on the horizon.
    """
    everything = [(plan, intruder) for plan in plans for intruder in intruders_of(plan)]
    met = [(plan, intruder) for plan, intruder in everything if intruder.planned]
    if not met:
        return []
    views = [sighting(plan, intruder) for plan, intruder in met]
    steps = [
        np.isin(np.arange(len(view.range_m)), list(plan.capture_steps))
        for view, (plan, _) in zip(views, met, strict=True)
    ]
    in_images = [view.in_image & step for view, step in zip(views, steps, strict=True)]

    def values(name: str) -> FloatArray:
        return np.concatenate([getattr(view, name)[rows] for view, rows in zip(views, in_images, strict=True)])

    images = sum(int(rows.sum()) for rows in in_images)
    geometry = zip(met, views, in_images, strict=True)
    valid = [plan.scene_name for (plan, _), view, rows in geometry if _is_valid(plan, view, rows)]
    rows = [
        Covered("encounters", "", str(len(met))),
        Covered("unplanned objects", "", str(len(everything) - len(met))),
        Covered("images with an encounter's intruder", "", str(images)),
    ]
    ranges = values("range_m")
    if len(ranges):
        low, high = np.percentile(ranges, [25, 75])
        rows.append(
            Covered("range m, middle half of images", _limits(targets.range_middle_half_m), f"{low:.0f} to {high:.0f}")
        )
    courses = float(np.mean([intruder.collision_course for _, intruder in met]))
    rows.append(Covered("on collision course", _share(targets.collision_course), _share(courses)))
    over = values("over_horizon_deg")
    sides = {"above": over > within_deg, "on": np.abs(over) <= within_deg, "below": over < -within_deg}
    for side, made in sides.items():
        target = _share(getattr(targets.horizon, side) if targets.horizon is not None else None)
        rows.append(Covered(f"{side} the horizon, of images", target, _share(float(made.mean()) if images else None)))
    rows += [
        Covered("azimuth deg at the start", _limits(targets.azimuth_deg), _span([i.azimuth_deg for _, i in met])),
        Covered("elevation deg at the start", _limits(targets.elevation_deg), _span([i.elevation_deg for _, i in met])),
        Covered("closing m/s at the start", _limits(targets.closing_mps), _span([i.closing_mps for _, i in met])),
        Covered("valid by AOT's rule", "", str(len(valid))),
        Covered("scenes with a valid one", "", f"{len(set(valid))} of {len(plans)}"),
        Covered("draws for one encounter, mean", "", f"{np.mean([i.draws for _, i in met]):.1f}"),
    ]  # fmt: skip
    return rows


def _is_valid(plan: ScenePlan, view: Sighting, in_images: BoolArray) -> bool:
    images = list(plan.capture_steps)
    return is_valid(view.range_m[images], in_images[images])


def _limits(limits: Limits | None) -> str:
    return "" if limits is None else f"{limits.low:g} to {limits.high:g}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _span(values: Sequence[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"
