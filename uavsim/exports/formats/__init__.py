"""A dataset in other people's formats: one module a format, all read from disk, none needs the simulator."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from uavsim.exports.formats.request import ExportRequest
from uavsim.registry import Named, Registry

__all__ = ["EXPORTERS", "ExportRequest", "Exporter"]

Exporter: TypeAlias = Callable[[ExportRequest], list[Path]]
"""Writes a request's dataset in its format; returns the files or folders it made."""

_FORMATS: Final = (
    "agents",
    "airv2x",
    "aot",
    "coco",
    "colmap",
    "cosmos",
    "euroc",
    "griffin",
    "kitti",
    "lerobot",
    "mcap",
    "mmdet3d",
    "nerfstudio",
    "openad",
    "opv2v",
    "rosbag2",
    "v2xsim",
)  # of the modules that write them, too

EXPORTERS: Final[Registry[Exporter]] = Registry(
    "exporters",
    {name: Named(f"uavsim.exports.formats.{name}:export_{name}") for name in _FORMATS},
    what="format",
    expects=Callable,
)
"""Formats by the name that ``uavsim export --format`` takes; installed packages add theirs (``uavsim.exporters``)."""
