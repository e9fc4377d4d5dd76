"""A data set in other people's formats: one module a format, all read from disk, none needs the simulator."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from uavsim.export.coco import export_coco
from uavsim.export.keyframes import ExportRequest
from uavsim.export.kitti import export_kitti
from uavsim.export.mmdet3d import export_mmdet3d
from uavsim.export.opv2v import export_opv2v
from uavsim.export.uav3d_infos import InfoOptions, write_uav3d_infos

__all__ = ["EXPORTS", "ExportRequest", "InfoOptions", "write_uav3d_infos"]

EXPORTS: Final[dict[str, Callable[[ExportRequest], list[Path]]]] = {
    "coco": export_coco,
    "kitti": export_kitti,
    "mmdet3d": export_mmdet3d,
    "opv2v": export_opv2v,
}
"""Formats by the name that ``uavsim export --format`` takes; each starts from the strict dialect."""
