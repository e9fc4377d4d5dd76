"""The map of a town: where vehicles drive."""

from __future__ import annotations

from dataclasses import dataclass, field

from uavsim.files.names import DataFolder
from uavsim.images import codec
from uavsim.typing import BoolArray, FloatArray

__all__ = ["TownMap"]


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
