"""The maps of a town: mask of the drivable area, and vector map."""

from dataclasses import dataclass, field
from typing import Final

from uavsim.errors import DatasetError
from uavsim.files.names import MISSING, DataFolder, part_fault
from uavsim.images import codec
from uavsim.maps.expansion import read_expansion
from uavsim.records.road_map import RoadMap
from uavsim.typing import BoolArray, FloatArray

LARGEST_MAP_BYTES: Final = 1 << 31
"""Limit for a city's vector map, which is larger than tables and images."""


def expansion_path(town: str) -> str:
    """Return the path of a town's map expansion, as in the devkit."""
    return f"maps/expansion/{town}.json"


def read_road_map(files: DataFolder, town: str) -> RoadMap:
    """Read the map expansion of a town in a dataset's folder.

    Raises:
        DatasetError: the file is missing or damaged.
    """
    name = expansion_path(town)
    if part_fault(town) or files.fault(name, most_bytes=LARGEST_MAP_BYTES) == MISSING:
        raise DatasetError(
            f"{files.root}: {name} is missing; set `maps: [expansion]` in the dataset's YAML, or run uavsim map"
        )
    return read_expansion(files.read(name, most_bytes=LARGEST_MAP_BYTES), name=town)


@dataclass(frozen=True, slots=True, eq=False)
class TownMap:
    """A map mask, north up.

    Attributes:
        town: name of the town.
        filename: path in the dataset's folder.
        origin_map_m: (2,) map position of the lower left corner.
        metres_per_px: side of one pixel.
    """

    town: str
    filename: str
    origin_map_m: FloatArray
    metres_per_px: float
    files: DataFolder = field(repr=False)

    @property
    def exists(self) -> bool:
        """Whether the file exists."""
        return self.files.fault(self.filename) is None

    def drivable(self) -> BoolArray:
        """Read (H, W) bool, the drivable area; the first row is the northernmost.

        Raises:
            DatasetError: the file is missing or no image.
        """
        return codec.decode_rgb(self.files.read(self.filename))[..., 0] > 127

    def roads(self) -> RoadMap | None:
        """Read the vector map; None if the dataset has none.

        Raises:
            DatasetError: the file is damaged.
        """
        exists = self.files.fault(expansion_path(self.town), most_bytes=LARGEST_MAP_BYTES) is None
        return read_road_map(self.files, self.town) if exists else None
