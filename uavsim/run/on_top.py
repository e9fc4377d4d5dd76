"""Callbacks of higher packages; passing them in avoids imports by this package."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from uavsim.config.dataset import VoxelLabels
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import SensorSpec
from uavsim.run.request import Request

LabelFolder: TypeAlias = Callable[[Path], None]
"""Labels a finished dataset in a folder."""


@dataclass(frozen=True, slots=True)
class OnTop:
    """Functions that a run calls if its request or its dataset needs them.

    Attributes:
        replayed: returns the plan that replays a recorded scene, from the planned scene and the request.
        voxels: returns the function that labels a dataset's voxels by its YAML, or raises ``InputError``.
    """

    replayed: Callable[[ScenePlan, Request], ScenePlan] | None = None
    voxels: Callable[[VoxelLabels, Mapping[str, SensorSpec]], LabelFolder] | None = None


NOTHING = OnTop()
