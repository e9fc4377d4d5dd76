"""Replays and voxel labels as functions that a run calls: they are built on top of a run, so its flows hand them in."""

from uavsim.occupancy.further import voxel_labeller
from uavsim.replays.requests import replayed
from uavsim.run.on_top import OnTop

ON_TOP = OnTop(replayed, voxel_labeller)
