"""Simulated data for multi-drone perception: make datasets, and read them as arrays. docs/python.md describes the names.

Names are imported when they are first used, so that ``import uavsim`` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from uavsim.access import Boxes, Dataset, Image, LidarScan, Sample, Scene, TownMap, Track
    from uavsim.access import open_folder as open  # the name that a user types: uavsim.open
    from uavsim.access.torch_samples import torch_dataset
    from uavsim.api import generate
    from uavsim.errors import UavsimError
    from uavsim.geometry.se3 import SE3

__all__ = [
    "SE3",
    "Boxes",
    "Dataset",
    "Image",
    "LidarScan",
    "Sample",
    "Scene",
    "TownMap",
    "Track",
    "UavsimError",
    "generate",
    "open",
    "torch_dataset",
]

__distribution__: Final = "uavsim-datagen"
"""Name on package indexes, where ``uavsim`` is another project; ``__main__`` checks that it did not replace this package."""

_HOME: Final = {
    **dict.fromkeys(("Boxes", "Dataset", "Image", "LidarScan", "Sample", "Scene", "TownMap", "Track"), "uavsim.access"),
    "SE3": "uavsim.geometry.se3",
    "UavsimError": "uavsim.errors",
    "generate": "uavsim.api",
    "open": "uavsim.access",
    "torch_dataset": "uavsim.access.torch_samples",
}
_CALLED: Final = {"open": "open_folder"}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'uavsim' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), _CALLED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
