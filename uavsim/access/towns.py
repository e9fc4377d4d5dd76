"""The maps of a town: where vehicles drive, and its roads as shapes."""

from dataclasses import dataclass, field
from typing import Final

from uavsim.errors import DatasetError
from uavsim.files.names import MISSING, DataFolder, part_fault
from uavsim.images import codec
from uavsim.maps.expansion import read_expansion
from uavsim.records.road_map import RoadMap
from uavsim.typing import BoolArray, FloatArray

LARGEST_MAP_BYTES: Final = 1 << 31
"""Of a city's vector map; tables and images are smaller."""


def expansion_path(town: str) -> str:
    """Return where the devkit looks for the map expansion of a town."""
    return f"maps/expansion/{town}.json"


def read_road_map(files: DataFolder, town: str) -> RoadMap:
    """Read the map expansion of a town in a dataset's folder.

    Raises:
        DatasetError: there is none, or it is damaged.
    """
    name = expansion_path(town)
    if part_fault(town) or files.fault(name, most_bytes=LARGEST_MAP_BYTES) == MISSING:
        raise DatasetError(
            f"{files.root}: {name} is not there; a dataset whose YAML has `maps: [expansion]` has it, or uavsim map writes it"
        )
    return read_expansion(files.read(name, most_bytes=LARGEST_MAP_BYTES), name=town)


@dataclass(frozen=True, slots=True, eq=False)
class TownMap:
    """A map mask, north up.

    Attributes:
        town: its name.
        filename: in the dataset's folder.
        origin_map_m: (2,) map position of the lower left corner.
        metres_per_px: of one pixel.
    """

    town: str
    filename: str
    origin_map_m: FloatArray
    metres_per_px: float
    files: DataFolder = field(repr=False)

    @property
    def there(self) -> bool:
        """Return whether the file is there."""
        return self.files.fault(self.filename) is None

    def drivable(self) -> BoolArray:
        """Read (H, W) whether vehicles drive there; the first row is the northernmost.

        Raises:
            DatasetError: the file is missing or no image.
        """
        return codec.decode_rgb(self.files.read(self.filename))[..., 0] > 127

    def roads(self) -> RoadMap | None:
        """Read the vector map; None where the dataset has none.

        Raises:
            DatasetError: it is damaged.
        """
        there = self.files.fault(expansion_path(self.town), most_bytes=LARGEST_MAP_BYTES) is None
        return read_road_map(self.files, self.town) if there else None
