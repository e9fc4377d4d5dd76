"""The same maps for each scene of a dataset; an installed package makes them of the town's roads."""

from __future__ import annotations

from uavsim.environment import install_line
from uavsim.ingredients.town_maps.records import MapsPlan
from uavsim.plan.ingredients import ScenePlanner, TownPlan
from uavsim.records.road_map import MAP_FILES
from uavsim.typing import JsonDict

__all__ = ["planner", "summary", "town_files"]


def planner(town: TownPlan) -> ScenePlanner:
    """Return the same for each scene.

    Raises:
        ConfigError: no installed package makes maps.
    """
    if "opendrive" not in MAP_FILES.names():
        raise town.dataset.error(("maps",), f"maps need the package uavsim-maps: {install_line('maps')}")
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
    return MAP_FILES.pick("opendrive")(opendrive, town, record.forms)
