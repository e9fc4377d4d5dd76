"""The same maps for each scene of a dataset, made from the town's roads."""

from uavsim.ingredients.town_maps.records import MapsPlan
from uavsim.maps.files import files_of_town
from uavsim.plan.ingredients import ScenePlanner, TownPlan
from uavsim.records.road_map import TownSource
from uavsim.typing import JsonDict


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same for each scene."""
    forms = tuple(form for form in dict.fromkeys(town.block) if form != "buildings")
    planned = MapsPlan(forms, buildings="buildings" in town.block)
    return lambda _: planned


def summary(planned: MapsPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    return {"maps": ", ".join((*planned.forms, *(["buildings"] if planned.buildings else [])))}


def town_buildings(record: MapsPlan) -> bool:
    """Return whether the maps show buildings."""
    return record.buildings


def town_files(source: TownSource, town: str, record: MapsPlan) -> dict[str, bytes]:
    """Return the files of a town by their path in the dataset.

    Raises:
        InputError: its OpenDRIVE text is none, or has no lane that vehicles drive on.
    """
    return files_of_town(source, town, record.forms)
