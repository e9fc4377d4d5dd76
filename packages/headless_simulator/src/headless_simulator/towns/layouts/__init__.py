"""Streets of the procedural towns, by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from headless_simulator.towns.layouts import town01, town02, town03, town04, town05, town06, town07, town10hd, town12
from headless_simulator.towns.streets import Plan
from headless_simulator.towns.styles import MOTORWAY, RURAL, SMALL_TOWN, SUBURBAN, URBAN, Style


@dataclass(frozen=True, slots=True)
class Layout:
    """The description of a procedural town."""

    plan: Callable[[], Plan]
    style: Style


LAYOUTS: Final[dict[str, Layout]] = {
    "Town01": Layout(town01.plan, replace(SMALL_TOWN, spawn_points=255, river_m=town01.RIVER_M)),
    "Town02": Layout(town02.plan, replace(SMALL_TOWN, spawn_points=101)),
    "Town03": Layout(
        town03.plan,
        replace(
            URBAN,
            spawn_points=265,
            front={"tower": 0.12, "block": 0.5, "shop": 0.23, "house": 0.15},
            filled=0.8,
            # The roundabout, and the open ground in the south that CARLA's collision tests use.
            parks_m=((0.0, 0.0, 23.0), *((x, -256.0, 24.0) for x in (46.0, 72.0, 98.0, 124.0, 148.0))),
        ),
    ),
    "Town04": Layout(town04.plan, replace(MOTORWAY, spawn_points=372, woods=0.4, conifers=0.65, mountains_m=260.0)),
    "Town05": Layout(
        town05.plan,
        replace(
            URBAN,
            spawn_points=302,
            front={"tower": 0.3, "block": 0.45, "shop": 0.25},
            filled=0.8,
            parks_m=((-230.0, 100.0, 40.0),),
        ),
    ),
    "Town06": Layout(town06.plan, replace(SUBURBAN, spawn_points=436)),
    "Town07": Layout(town07.plan, replace(RURAL, spawn_points=116)),
    "Town10HD": Layout(town10hd.plan, replace(URBAN, spawn_points=155)),
    "Town12": Layout(
        town12.plan,
        replace(
            URBAN,
            spawn_points=500,
            front={"shop": 0.5, "house": 0.5},
            filled=0.4,
            rows=1,
            street_trees_m=26.0,
            trees_per_ha=0.5,
            lawns_per_ha=0.0,
            outskirts="none",
        ),
    ),
}
