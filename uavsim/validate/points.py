"""Checks of lidar points: those of an object lie in its box, ``num_lidar_pts`` counts them, and each has a class.

This module reads the files and places the points itself, so that it does not repeat a mistake of the writer.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from uavsim.typing import FloatArray, IntArray
from uavsim.validate.dataset import BEV_CHANNEL, DataSet, box_finding
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding
from uavsim.validate.frames import rotations

POINT_FLOATS: Final = 5
OWNER_KIND: Final = "lidar_instance"
CLASSES: Final = 32  # of nuScenes-lidarseg
SLACK_M: Final = 0.5  # mirrors and arms extend beyond CARLA's boxes
OUTSIDE_SHARE: Final = 0.1
ENOUGH_POINTS: Final = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """One revolution of a real lidar at a keyframe: row of sample_data, (N, 3) map points, (N,) instance ids."""

    row: int
    map_m: FloatArray
    instance_id: IntArray


def points_lie_in_boxes(evidence: Evidence) -> Iterator[Finding]:
    """At least nine of ten points with an object's id lie in the object's box, grown by half a metre."""
    data, boxes = evidence.data, evidence.boxes
    ids, sample = _ids(data), data["sample_annotation"]["sample_token"]
    for turn in _turns(data):
        here = np.flatnonzero((sample == data["sample_data"]["sample_token"][turn.row]) & boxes.usable)
        total = outside = 0
        for box in here.tolist():
            points_m = turn.map_m[turn.instance_id == ids[box]] if ids[box] > 0 else turn.map_m[:0]
            local = (points_m - boxes.centre_m[box]) @ boxes.rotation[box]
            outside += int((np.abs(local) > boxes.half_lwh_m[box] + SLACK_M).any(axis=1).sum())
            total += len(points_m)
        if total >= ENOUGH_POINTS and outside > OUTSIDE_SHARE * total:
            message = f"{outside} of {total} points on objects lie outside of their boxes: wrong pose or tick"
            numbers = {"outside": outside, "points": total}
            yield Finding("points.box", message, numbers=numbers, **data.data_place(turn.row))


def points_counted(evidence: Evidence) -> Iterator[Finding]:
    """In a sample with lidars, ``num_lidar_pts`` is the number of points with the object's id."""
    data, table = evidence.data, evidence.data["sample_annotation"]
    counted: dict[int, Counter[int]] = {}
    for turn in _turns(data):
        sample = int(data["sample_data"]["sample_token"][turn.row])
        found, points = np.unique(turn.instance_id, return_counts=True)
        counted.setdefault(sample, Counter()).update(dict(zip(found.tolist(), points.tolist(), strict=True)))
    ids, stated = _ids(data), table["num_lidar_pts"]
    for row, sample in enumerate(table["sample_token"].tolist()):
        if sample not in counted or not 0 < ids[row] < 65536 or stated[row] < 0:
            continue
        number = counted[sample][int(ids[row])]
        if number != stated[row]:
            message = f"num_lidar_pts is {int(stated[row])}, the lidars have {number} points"
            yield box_finding(data, row, "points.count", message, stated=int(stated[row]), counted=number)


def labels_fit_points(evidence: Evidence) -> Iterator[Finding]:
    """Every point of a keyframe has one label below 32, and the table has a row for each label file."""
    data = evidence.data
    table = data["lidarseg"]
    for name, owner in zip(table["filename"], table["sample_data_token"].tolist(), strict=True):
        if data.files.fault(name) is not None:  # the file checks report it
            continue
        location = data.data_place(owner)
        labels = np.frombuffer(data.read(name), np.uint8)
        cloud = data["sample_data"]["filename"][owner] if owner >= 0 else ""
        readable = data.files.fault(cloud) is None
        points = data.files.file(cloud).stat().st_size // (4 * POINT_FLOATS) if readable else len(labels)
        if len(labels) != points:
            yield Finding("points.labels", f"{name} has {len(labels)} labels for {points} points", **location)
        elif len(labels) and labels.max() >= CLASSES:
            yield Finding("points.labels", f"{name} has label {labels.max()}; nuScenes-lidarseg ends at 31", **location)
    found = sum(name.endswith((".bin", ".npz")) for name in data.files.names(f"lidarseg/{data.version}"))
    if found != len(table):
        message = f"lidarseg/{data.version} holds {found} files, its table {len(table)} rows"
        yield Finding("points.labels", f"{message}: the devkit refuses to load")
    indices = data["category"].get("index")
    if indices is None or sorted(indices[indices >= 0].tolist()) != list(range(CLASSES)):
        yield Finding(
            "points.labels", "category.json lacks nuScenes-lidarseg's indices 0 to 31: the devkit cannot draw"
        )


def _ids(data: DataSet) -> IntArray:
    table = data["sample_annotation"]
    ids: IntArray | None = table.get("uav_instance_id")
    return np.full(len(table), -1, np.int64) if ids is None else ids


def _turns(data: DataSet) -> Iterator[_Turn]:
    """Yield the revolutions at keyframes with instance ids."""
    if "layer" not in data.tables:
        return
    layer, images = data["layer"], data["sample_data"]
    named = zip(layer["sample_data_token"].tolist(), layer["kind"], layer["filename"], strict=True)
    owners_of = {row: filename for row, kind, filename in named if kind == OWNER_KIND and row >= 0}
    sensors = zip(data["sensor"]["modality"], data.channels, strict=True)
    lidar = [modality == "lidar" and channel != BEV_CHANNEL for modality, channel in sensors]
    sensor = data.sensor_of_data
    for row, filename in sorted(owners_of.items()):
        if not images["is_key_frame"][row] or sensor[row] < 0 or not lidar[sensor[row]]:
            continue
        points = _read(data, images["filename"][row], "<f4").reshape(-1, POINT_FLOATS)
        owners = _read(data, filename, "<u2").reshape(-1, 2)
        if len(points) == len(owners):
            yield _Turn(row, _placed(data, row, points[:, :3].astype(np.float64)), owners[:, 0].astype(np.int64))


def _read(data: DataSet, name: str, dtype: str) -> npt.NDArray[Any]:
    """Read complete rows of a file; the file checks report a missing or truncated one."""
    content, width = data.read(name), {"<f4": 4 * POINT_FLOATS, "<u2": 4}[dtype]
    return np.frombuffer(content[: len(content) // width * width], dtype)


def _placed(data: DataSet, row: int, sensor_m: FloatArray) -> FloatArray:
    """Transform (N, 3) points from the sensor's frame to the map: calibration, then ego pose."""
    images, calibrations, poses = data["sample_data"], data["calibrated_sensor"], data["ego_pose"]
    points_m = sensor_m
    for table, index in (
        (calibrations, int(images["calibrated_sensor_token"][row])),
        (poses, int(images["ego_pose_token"][row])),
    ):
        turn = rotations(table["rotation"][index][None])[0]
        points_m = points_m @ turn.T + table["translation"][index]
    return points_m
