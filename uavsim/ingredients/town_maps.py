"""Vector maps of the dataset's towns, written beside its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field

from uavsim.maps.files import files_of_town
from uavsim.records.ingredients import Ingredient
from uavsim.records.road_map import TownSource
from uavsim.registry import Named
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

__all__ = ["INGREDIENT", "Maps", "MapsPlan", "planner", "summary", "town_buildings", "town_files"]

INGREDIENT: Final = Ingredient(
    key="maps",
    block=Named(f"{__name__}:Maps"),
    about="Vector maps of the towns' roads, in the dataset's own frame: nuScenes' map expansion, GeoJSON, a lane graph.",
    order=100,
    records=(Named(f"{__name__}:MapsPlan"),),
    planner=Named(f"{__name__}:planner"),
    summary=Named(f"{__name__}:summary"),
    town_files=Named(f"{__name__}:town_files"),
    town_buildings=Named(f"{__name__}:town_buildings"),
)


def _in_files(names: tuple[str, ...]) -> tuple[str, ...]:
    if set(names) == {"buildings"}:
        raise ValueError("buildings are a layer of other formats; add one of these, such as [expansion, buildings]")
    return names


Maps: TypeAlias = Annotated[
    tuple[Literal["expansion", "geojson", "graph", "buildings"], ...],
    Field(min_length=1, max_length=4),
    AfterValidator(_in_files),
]
"""``[expansion]``: nuScenes' map expansion with its raster; GeoJSON; a lane graph. ``buildings``: a layer of the first two."""


@dataclass(frozen=True, slots=True)
class MapsPlan:
    """The file formats of a town's map: ``expansion``, ``geojson``, ``graph``; and whether it has buildings."""

    forms: tuple[str, ...]
    buildings: bool = False


def planner(town: TownPlan) -> ScenePlanner:
    """Return a planner with the same plan for each scene."""
    forms = tuple(form for form in dict.fromkeys(town.block) if form != "buildings")
    return MapsPlan(forms, buildings="buildings" in town.block)


def summary(planned: MapsPlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    return {"maps": ", ".join((*planned.forms, *(["buildings"] if planned.buildings else [])))}


def town_buildings(record: MapsPlan) -> bool:
    """Return whether the maps have buildings."""
    return record.buildings


def town_files(source: TownSource, town: str, record: MapsPlan) -> dict[str, bytes]:
    """Return the files of a town by their path in the dataset.

    Raises:
        InputError: the text is not OpenDRIVE, or has no driving lane.
    """
    return files_of_town(source, town, record.forms)
