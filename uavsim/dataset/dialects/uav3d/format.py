"""Frames, units, file names and additional columns of the uav3d dialect.

Columns ``uav_*`` and tables ``strict_*`` have the values of the strict dialect that UAV3D's format lacks, so that a conversion
there and back is the identity.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from uavsim.dataset.dialects.base import Frames
from uavsim.dataset.rows import (
    DatasetInfo,
    InstanceRow,
    LogRow,
    SampleAnnotationRow,
    SampleDataRow,
    Vector,
)
from uavsim.geometry import frames, unreal
from uavsim.typing import FloatArray

TimestampUnit: TypeAlias = Literal["us", "ns"]
NumPts: TypeAlias = Literal["visible", "minus_one"]
NS_PER_US: Final = 1000


@dataclass(frozen=True, slots=True)
class Uav3dOptions:
    """Options of the dialect.

    Attributes:
        timestamp_unit: ``us``, so that UAV3D's tools can compute velocities; or ``ns`` as in the release, which gives NaN.
        num_pts: ``visible`` pixels as in the strict dialect, or ``minus_one`` twice as in the release.
    """

    timestamp_unit: TimestampUnit = "us"
    num_pts: NumPts = "visible"

    @property
    def stamp_factor(self) -> int:
        """Stamps of the dialect in one microsecond."""
        return NS_PER_US if self.timestamp_unit == "ns" else 1


class Uav3dSampleDataRow(SampleDataRow):
    """An image, with its tokens and file name in the strict dialect."""

    uav_filename: str
    uav_ego_pose_token: str
    uav_calibrated_sensor_token: str


class Uav3dAnnotationRow(SampleAnnotationRow):
    """A box at its actor's origin, with its centre and point counts in the strict dialect."""

    uav_box_translation: Vector
    uav_num_pts: list[int]


class Uav3dInstanceRow(InstanceRow):
    """An object with its blueprint as category, and its strict category."""

    uav_category_token: str


class Uav3dInfo(DatasetInfo, total=False):
    """The description of the dataset, with the options and the strict dataset's description."""

    timestamp_unit: TimestampUnit
    num_pts: NumPts
    strict: DatasetInfo


def _ned(map_q_wxyz: FloatArray) -> FloatArray:
    return np.asarray(frames.quat_ned_from_map(map_q_wxyz) + 0.0)  # no -0.0 in files


def _map(ned_q_wxyz: FloatArray) -> FloatArray:
    return np.asarray(frames.quat_map_from_ned(ned_q_wxyz) + 0.0)


FRAMES: Final = Frames(unreal.ue_vector_from_map, unreal.map_vector_from_ue, _ned, _map, size_columns=(1, 0, 2))
"""The simulator's left-handed axes, AirSim's attitudes, sizes as length, width, height."""


def image_path(row: SampleDataRow, channel: str, log: LogRow) -> str:
    """Return ``sweeps/town10_row1/CAMERA_FRONT_id_0/<ns>.png``, also for keyframes."""
    suffix = row["filename"].rpartition(".")[2]
    return f"sweeps/{sweep_folder(log)}/{channel}/{row['timestamp'] * NS_PER_US}.{suffix}"


def sweep_folder(log: LogRow) -> str:
    """Return the folder of a route's images: ``town10_row1``, or town and route if the route has no row number."""
    town = str(log.get("location", "town"))
    number = re.match(r"[Tt]own(\d+)", town)
    name = f"town{number[1]}" if number else re.sub(r"[^a-z0-9]+", "_", town.lower()).strip("_") or "town"
    route = str(log.get("uav_route", log.get("logfile", "")))
    row = re.search(r"r(?:ow)?_?(\d+)", route)
    tail = f"row{int(row[1])}" if row else re.sub(r"[^A-Za-z0-9]+", "_", route).strip("_") or "route"
    return f"{name}_{tail}"


def column(rows: list[Any], name: str, width: int) -> FloatArray:
    """Return a column of vectors as (N, width) float64."""
    return np.array([row[name] for row in rows], dtype=np.float64).reshape(-1, width)
