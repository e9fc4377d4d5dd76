"""A dataset in other people's formats: one module a format, all read from disk, none needs the simulator."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from uavsim.export.agents import export_agents
from uavsim.export.airv2x import export_airv2x
from uavsim.export.aot import export_aot
from uavsim.export.coco import export_coco
from uavsim.export.colmap import export_colmap
from uavsim.export.cosmos import export_cosmos
from uavsim.export.euroc import export_euroc
from uavsim.export.griffin import export_griffin
from uavsim.export.kitti import export_kitti
from uavsim.export.lerobot import export_lerobot
from uavsim.export.mcap import export_mcap
from uavsim.export.mmdet3d import export_mmdet3d
from uavsim.export.nerfstudio import export_nerfstudio
from uavsim.export.openad import export_openad
from uavsim.export.opv2v import export_opv2v
from uavsim.export.request import ExportRequest
from uavsim.export.rosbag2 import export_rosbag2
from uavsim.export.simbev import export_simbev
from uavsim.export.uav3d_infos import InfoOptions, check_centre_camera, write_uav3d_infos
from uavsim.export.v2xsim import export_v2xsim
from uavsim.registry import Registry

__all__ = ["EXPORTERS", "ExportRequest", "Exporter", "InfoOptions", "check_centre_camera", "write_uav3d_infos"]

Exporter: TypeAlias = Callable[[ExportRequest], list[Path]]
"""Writes a request's dataset in its format; returns the files or folders it made."""

EXPORTERS: Final[Registry[Exporter]] = Registry(
    "exporters",
    {
        "agents": export_agents,
        "airv2x": export_airv2x,
        "aot": export_aot,
        "coco": export_coco,
        "colmap": export_colmap,
        "cosmos": export_cosmos,
        "euroc": export_euroc,
        "griffin": export_griffin,
        "kitti": export_kitti,
        "lerobot": export_lerobot,
        "mcap": export_mcap,
        "mmdet3d": export_mmdet3d,
        "nerfstudio": export_nerfstudio,
        "openad": export_openad,
        "opv2v": export_opv2v,
        "rosbag2": export_rosbag2,
        "simbev": export_simbev,
        "v2xsim": export_v2xsim,
    },
    what="format",
    expects=Callable,
)
"""Formats by the name that ``uavsim export --format`` takes; installed packages add theirs (``uavsim.exporters``)."""
