"""Exporters of a dataset on disk to other formats, one module for each format."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from uavsim.exports.formats.request import ExportRequest
from uavsim.registry import Named, Registry

__all__ = ["EXPORTERS", "FORMATS", "ExportRequest", "Exporter"]

Exporter: TypeAlias = Callable[[ExportRequest], list[Path]]
"""Writes a request's dataset in its format; returns the files or folders it created."""

FORMATS: Final = {  # the keys are also names of the modules
    "agents": "each agent alone as a plain nuScenes dataset",
    "airv2x": "AirV2X's layout",
    "aot": "AOT's ground truth, encounters and grey images",
    "coco": "COCO boxes and masks of what is visible",
    "colmap": "COLMAP models with exact poses, points from depth, masks of moving objects",
    "cosmos": "clips of RGB, depth, segmentation, edges and boxes for NVIDIA Cosmos",
    "euroc": "EuRoC sequences of cameras and IMU",
    "griffin": "Griffin's raw layout: one car and one drone",
    "lerobot": "LeRobot v3.0: an episode for each scene and drone",
    "mcap": "MCAP with Foxglove's schemas",
    "mmdet3d": "MMDetection3D's nuScenes infos, version 2",
    "nerfstudio": "nerfstudio's transforms.json with exact poses",
    "openad": "OpenAD's files, for datasets with corner cases",
    "opv2v": "OpenCOOD's OPV2V layout",
    "rosbag2": "ROS 2 bags",
    "v2xsim": "all agents in one nuScenes dataset by V2X-Sim's channel names",
}
"""Built-in formats with a one-line description."""

EXPORTERS: Final[Registry[Exporter]] = Registry(
    "exporters",
    {name: Named(f"uavsim.exports.formats.{name}:export_{name}") for name in FORMATS},
    what="format",
    expects=Callable,
)
"""Formats by name in ``uavsim export --format``; installed packages add theirs (``uavsim.exporters``)."""
