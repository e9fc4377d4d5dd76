"""Checks of lidar points: each object's lie in its box, are counted as they lie, and carry a class each.

The formats are read here by the validator's own few lines, and points are placed by the tables alone, so that a mistake of the
writer's cannot agree with itself.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim.validate.dataset import BEV_CHANNEL, DataSet
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding
from uavsim.validate.frames import rotations

__all__ = ["labels_fit_points", "points_counted", "points_lie_in_boxes"]

POINT_FLOATS: Final = 5
OWNER_KIND: Final = "lidar_instance"
CLASSES: Final = 32  # of nuScenes-lidarseg
SLACK_M: Final = 0.5  # mirrors and arms reach out of CARLA's boxes
OUTSIDE_SHARE: Final = 0.1
ENOUGH_POINTS: Final = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """One turn of a real lidar at a keyframe: its row of sample_data, (N, 3) map points, (N,) instance ids."""

    row: int
    map_m: FloatArray
    instance_id: IntArray


def points_lie_in_boxes(evidence: Evidence) -> Iterator[Finding]:
    """Points that carry an object's id lie in its box, grown by half a metre; up to a tenth of a turn's may not."""
    data, boxes = evidence.data, evidence.boxes
    ids, sample = _ids(data), data["sample_annotation"]["sample_token"]
    for turn in _turns(data):
        here = np.flatnonzero((sample == data["sample_data"]["sample_token"][turn.row]) & boxes.usable)
        total = outside = 0
        for box in here.tolist():
            own = turn.map_m[turn.instance_id == ids[box]] if ids[box] > 0 else turn.map_m[:0]
            local = (own - boxes.centre_m[box]) @ boxes.rotation[box]
            outside += int((np.abs(local) > boxes.half_lwh_m[box] + SLACK_M).any(axis=1).sum())
            total += len(own)
        if total >= ENOUGH_POINTS and outside > OUTSIDE_SHARE * total:
            message = f"{outside} of {total} points on objects lie outside of their boxes: wrong pose or tick"
            numbers = {"outside": outside, "points": total}
            yield Finding("points.box", message, numbers=numbers, **data.data_place(turn.row))


def points_counted(evidence: Evidence) -> Iterator[Finding]:
    """Where a sample has lidars, ``num_lidar_pts`` is the number of points that carry the object's id."""
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
        found_here = counted[sample][int(ids[row])]
        if found_here != stated[row]:
            message = f"num_lidar_pts says {int(stated[row])} points, the lidars have {found_here}"
            numbers = {"token": table.tokens[row], "stated": int(stated[row]), "counted": found_here}
            yield Finding("points.count", message, numbers=numbers, **data.annotation_place(row))


def labels_fit_points(evidence: Evidence) -> Iterator[Finding]:
    """Every point at a keyframe has one label below 32, and the devkit finds as many label files as the table has rows."""
    data = evidence.data
    if "lidarseg" not in data.tables:
        return
    table = data["lidarseg"]
    for name, owner in zip(table["filename"], table["sample_data_token"].tolist(), strict=True):
        if data.files.fault(name) is not None:  # which the file checks report
            continue
        place = data.data_place(owner)
        labels = np.frombuffer(data.read(name), np.uint8)
        cloud = data["sample_data"]["filename"][owner] if owner >= 0 else ""
        readable = data.files.fault(cloud) is None
        points = data.files.file(cloud).stat().st_size // (4 * POINT_FLOATS) if readable else len(labels)
        if len(labels) != points:
            yield Finding("points.labels", f"{name} has {len(labels)} labels for {points} points", **place)
        elif len(labels) and labels.max() >= CLASSES:
            yield Finding("points.labels", f"{name} has label {labels.max()}; nuScenes-lidarseg ends at 31", **place)
    found = sum(name.endswith((".bin", ".npz")) for name in data.files.names(f"lidarseg/{data.version}"))
    if found != len(table):
        message = (
            f"lidarseg/{data.version} holds {found} files, its table {len(table)} rows: the devkit refuses to load"
        )
        yield Finding("points.labels", message)
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
    """Yield every keyframe turn whose points carry ids."""
    if "layer" not in data.tables:
        return
    layer, images = data["layer"], data["sample_data"]
    named = zip(layer["sample_data_token"].tolist(), layer["kind"], layer["filename"], strict=True)
    owners_of = {row: filename for row, kind, filename in named if kind == OWNER_KIND and row >= 0}
    lidar = _real_lidars(data)
    sensor = data.sensor_of_data
    for row, filename in sorted(owners_of.items()):
        if not images["is_key_frame"][row] or sensor[row] < 0 or not lidar[sensor[row]]:
            continue
        points = _read(data, images["filename"][row], "<f4").reshape(-1, POINT_FLOATS)
        owners = _read(data, filename, "<u2").reshape(-1, 2)
        if len(points) == len(owners):
            yield _Turn(row, _placed(data, row, points[:, :3].astype(np.float64)), owners[:, 0].astype(np.int64))


def _real_lidars(data: DataSet) -> BoolArray:
    rows = zip(data["sensor"]["modality"], data.channels, strict=True)
    return np.array([modality == "lidar" and channel != BEV_CHANNEL for modality, channel in rows], bool)


def _read(data: DataSet, name: str, dtype: str) -> npt.NDArray[Any]:
    """Read whole rows; nothing where the file is missing or cut, which the file checks say."""
    content, width = data.read(name), {"<f4": 4 * POINT_FLOATS, "<u2": 4}[dtype]
    return np.frombuffer(content[: len(content) // width * width], dtype)


def _placed(data: DataSet, row: int, sensor_m: FloatArray) -> FloatArray:
    """Take (N, 3) points from the sensor's frame to the map: calibration, then ego pose."""
    images, calibrations, poses = data["sample_data"], data["calibrated_sensor"], data["ego_pose"]
    place = sensor_m
    for table, index in (
        (calibrations, int(images["calibrated_sensor_token"][row])),
        (poses, int(images["ego_pose_token"][row])),
    ):
        turn = rotations(table["rotation"][index][None])[0]
        place = place @ turn.T + table["translation"][index]
    return place
