"""The one place below the command line that knows what is built on top of a run: the flows hand it on."""

from collections.abc import Callable, Mapping
from typing import Final

from uavsim.access.further_labels import FURTHER_LABELS
from uavsim.config.dataset import VoxelLabels
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import SensorSpec
from uavsim.registry import Registry
from uavsim.run.on_top import LabelFolder, OnTop
from uavsim.run.request import Request

REPLAYS: Final[Registry[Callable[[ScenePlan, Request], ScenePlan]]] = Registry("replays", {}, expects=Callable)


def _replayed(planned: ScenePlan, request: Request) -> ScenePlan:
    if not REPLAYS.names():
        raise InputError(f"a replay needs the package uavsim-replays: {install_line('replays')}")
    return REPLAYS.pick("recorded")(planned, request)


def _voxels(asked: VoxelLabels, sensors: Mapping[str, SensorSpec]) -> LabelFolder:
    if not FURTHER_LABELS.names():
        raise InputError(f"voxels need the package uavsim-occupancy: {install_line('occupancy')}")
    blind = [spec.name for spec in sensors.values() if spec.params.is_optical and "depth" not in spec.modalities]
    if blind:
        raise InputError(f"camera {blind[0]} takes no depth, of which voxels are made: add depth to its rig's sensors")
    made, settings = FURTHER_LABELS.pick("occupancy"), asked.model_dump()
    cameras, lidars = (
        [name for name, spec in sensors.items() if spec.params.prefix == kind] for kind in ("CAMERA", "LIDAR")
    )
    made.check(settings, cameras, list(dict.fromkeys([BEV_CHANNEL, *lidars])))  # every nuScenes sample has that one
    return lambda folder: made.label(folder, settings)


ON_TOP: Final = OnTop(_replayed, _voxels)
