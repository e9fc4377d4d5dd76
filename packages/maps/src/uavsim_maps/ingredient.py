"""The key ``maps`` of a dataset's YAML: which maps ``uavsim generate`` writes of each town."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from uavsim.plan.ingredients import ScenePlanner, TownPlan
from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named
from uavsim.typing import JsonDict

__all__ = ["INGREDIENT", "Maps", "MapsPlan", "planner", "summary", "town_files"]

Maps: TypeAlias = Annotated[tuple[Literal["expansion", "geojson", "graph"], ...], Field(min_length=1, max_length=3)]
"""``maps: [expansion]``: nuScenes' map expansion with its raster; GeoJSON; a lane graph."""

_HERE: Final = "uavsim_maps.ingredient"
INGREDIENT: Final = Ingredient(
    key="maps",
    block=Named(f"{_HERE}:Maps"),
    about="Vector maps of the towns' roads, in the dataset's own frame: nuScenes' map expansion, GeoJSON, a lane graph.",
    records=_HERE,
    planner=Named(f"{_HERE}:planner"),
    summary=Named(f"{_HERE}:summary"),
    town_files=Named(f"{_HERE}:town_files"),
)


@dataclass(frozen=True, slots=True)
class MapsPlan:
    """The forms in which a town's map is written."""

    forms: tuple[str, ...]


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same for each scene."""
    planned = MapsPlan(tuple(dict.fromkeys(town.block)))
    return lambda _: planned


def summary(planned: MapsPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    return {"maps": ", ".join(planned.forms)}


def town_files(opendrive: bytes, town: str, record: MapsPlan) -> dict[str, bytes]:
    """Return the files of a town by their path in the dataset.

    Raises:
        InputError: its OpenDRIVE text is none, or has no lane that vehicles drive on.
    """
    from uavsim_maps.build import map_of_opendrive
    from uavsim_maps.files import FORMATS

    made = map_of_opendrive(opendrive, name=town)
    files: dict[str, bytes] = {}
    for form in record.forms:
        folder, format_ = ("", "nuscenes") if form == "expansion" else (f"maps/{form}/", form)
        files |= {folder + path: data for path, data in FORMATS[format_](made, town).items()}
    return files
