"""A plan's record of the maps that are written."""

from dataclasses import dataclass

__all__ = ["MapsPlan"]


@dataclass(frozen=True, slots=True)
class MapsPlan:
    """The forms in which a town's map is written: ``expansion``, ``geojson``, ``graph``; and whether it shows buildings."""

    forms: tuple[str, ...]
    buildings: bool = False
