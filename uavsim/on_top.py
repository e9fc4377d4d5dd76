"""Replays and voxel labels as callbacks of a run: both packages import ``run``, so flows pass them in."""

from collections.abc import Mapping

from uavsim.config.dataset import VoxelLabels
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import SensorSpec
from uavsim.run.on_top import LabelFolder, OnTop
from uavsim.run.request import Request

__all__ = ["ON_TOP"]


def _replayed(planned: ScenePlan, request: Request) -> ScenePlan:
    from uavsim.replays.requests import replayed  # only a replay needs it

    return replayed(planned, request)


def _voxel_labeller(voxel_labels: VoxelLabels, sensors: Mapping[str, SensorSpec]) -> LabelFolder:
    from uavsim.occupancy.further import voxel_labeller  # imports numba

    return voxel_labeller(voxel_labels, sensors)


ON_TOP = OnTop(_replayed, _voxel_labeller)
