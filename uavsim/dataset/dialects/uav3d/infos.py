"""``uav3d_infos_{train,val,test}.pkl``: the info files of UAV3D's converters, without their filter defect.

UAV3D's code truncates velocities, point counts and valid flags to the number of boxes after the range filter, which shifts
them against the boxes; this module filters all columns alike. Everything else is as in UAV3D: boxes in the simulator's axes
around drone 0, ``gt_boxes`` (x, y, z, l, w, h, -yaw - pi/2), actor origins, every vehicle a ``car``. Source: UAV3D
``perception/bevfusion/tools/data_converter/uav_converter.py``.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from uavsim.dataset.dialects import dialect_of
from uavsim.dataset.dialects.uav3d.format import column
from uavsim.dataset.euler_safe import uav3d_euler_deg
from uavsim.dataset.reader import DatasetReader, SceneRows, open_dataset
from uavsim.dataset.rows import CalibratedSensorRow, SampleAnnotationRow, SampleDataRow, SampleRow, Vector
from uavsim.dataset.schema import (
    CALIBRATED_SENSOR,
    CATEGORY,
    INSTANCE,
    SAMPLE,
    SAMPLE_ANNOTATION,
    SAMPLE_DATA,
    SENSOR,
    Tables,
)
from uavsim.dataset.tables import read_rows
from uavsim.errors import DatasetError, InputError
from uavsim.files.results import ResultPath
from uavsim.files.whole import whole_file
from uavsim.geometry import unreal
from uavsim.records.channels import split_channel
from uavsim.typing import BoolArray, FloatArray, JsonDict

_CAMERA_ORDER: Final = ("FRONT", "BACK", "LEFT", "RIGHT", "BOTTOM")
_CENTRE: Final = "CAMERA_BOTTOM_id_0"
_MAX_TIME_DIFF_S: Final = 1.5
_Image: TypeAlias = tuple[SampleDataRow, CalibratedSensorRow]
_RANGE_M: Final = (102.4, 102.4, 10.0)
_SPLITS: Final = {"train": "uav_train", "val": "uav_val", "test": "uav_test"}


def write_uav3d_infos(
    root: Path, out: Path | ResultPath, *, version: str | None = None, data_path: str = "./data/uav3d/v1.0"
) -> list[Path]:
    """Write the info files of a dataset in the uav3d dialect.

    Args:
        root: the dataset's folder.
        out: folder of the files; created if missing.
        version: version folder; default: the only one.
        data_path: prefix of the image paths for UAV3D's training code.

    Returns:
        The files: train and val, or test for a test version.

    Raises:
        InputError: the dataset has another dialect.
        DatasetError: the dataset lacks the centre camera, or is damaged.
        StorageError: a file cannot be written.
    """
    folder = out if isinstance(out, ResultPath) else ResultPath.open(out)
    reader = open_dataset(root, version)
    if dialect_of(reader).name != "uav3d":
        raise InputError(f"{root}: info files need the uav3d dialect; run uavsim convert first")
    test = "test" in reader.version
    infos: dict[str, list[JsonDict]] = {"test": []} if test else {"train": [], "val": []}
    scenes_of_split = {name: set(reader.splits.get(_SPLITS[name], ())) for name in infos}
    maker = _InfoMaker(reader, data_path, with_boxes=not test)
    for scene in reader.scenes():
        holders = [name for name, scenes in scenes_of_split.items() if scene.scene["name"] in scenes]
        if holders:
            scene_infos = maker.infos(scene)
            for name in holders:
                infos[name] += scene_infos
    return [_write(folder / f"uav3d_infos_{name}.pkl", rows, reader.version) for name, rows in infos.items()]


def check_centre_camera(root: Path) -> None:
    """Verify before a conversion that the dataset has drone 0's camera BOTTOM, which info files need.

    Raises:
        InputError: a version of the dataset does not have this camera.
        DatasetError: the dataset is damaged.
    """
    for table in sorted(root.glob(f"v*/{SENSOR.file}")):
        channels = {row.get("channel") for row in read_rows(table)}
        if _CENTRE not in channels:
            raise InputError(
                f"{table}: the rig has no camera {_CENTRE}, which UAV3D's info files need; "
                "convert only the tables with --no-infos"
            )


class _InfoMaker:
    """Makes the infos scene by scene."""

    def __init__(self, reader: DatasetReader, data_path: str, *, with_boxes: bool) -> None:
        self._data_path, self._with_boxes = data_path.rstrip("/"), with_boxes
        self._channel_of = {row["token"]: row["channel"] for row in reader.shared(SENSOR)}
        self._category_of = {row["token"]: row["name"] for row in reader.shared(CATEGORY)}

    def infos(self, scene: SceneRows) -> list[JsonDict]:
        rows = scene.rows
        sensors = {row["token"]: row for row in CALIBRATED_SENSOR.of(rows)}
        cameras: dict[str, dict[str, _Image]] = {}
        for row in SAMPLE_DATA.of(rows):
            if row["is_key_frame"]:
                sensor = sensors[row["calibrated_sensor_token"]]
                cameras.setdefault(row["sample_token"], {})[self._channel_of[sensor["sensor_token"]]] = (row, sensor)
        boxes = _BoxesOfScene(rows, self._category_of) if self._with_boxes else None
        return [self._info(sample, cameras.get(sample["token"], {}), boxes) for sample in SAMPLE.of(rows)]

    def _info(self, sample: SampleRow, cameras: dict[str, _Image], boxes: _BoxesOfScene | None) -> JsonDict:
        if _CENTRE not in cameras:
            raise DatasetError(f"sample {sample['token']} has no {_CENTRE}, the origin of UAV3D's ego frame")
        x, y, _ = cameras[_CENTRE][1]["translation"]
        ego = [x, y, 0]
        info: JsonDict = {
            "lidar_path": "",
            "token": sample["token"],
            "sweeps": [],
            "cams": {name: self._camera(name, *cameras[name], ego=ego) for name in sorted(cameras, key=_channel_key)},
            "lidar2ego_translation": [0.0, 0.0, 0.0],
            "lidar2ego_rotation": [1.0, 0.0, 0.0, 0.0],
            "ego2global_translation": ego,
            "ego2global_rotation": [1.0, 0.0, 0.0, 0.0],
            "timestamp": sample["timestamp"],
        }
        if boxes is not None:
            info |= boxes.ground_truth(sample["token"], np.array(ego, dtype=np.float64))
        return info

    def _camera(self, channel: str, row: SampleDataRow, sensor: CalibratedSensorRow, *, ego: list[float]) -> JsonDict:
        offset_m = [a - b for a, b in zip(sensor["translation"], ego, strict=True)]
        return {
            "data_path": f"{self._data_path}/{row['filename']}",
            "type": channel,
            "sample_data_token": row["token"],
            "sensor2ego_translation": offset_m,
            "sensor2ego_rotation": sensor["rotation"],
            "ego2global_translation": ego,
            "ego2global_rotation": [1.0, 0.0, 0.0, 0.0],
            "timestamp": row["timestamp"],
            "sensor2lidar_rotation": unreal.ue_matrix(uav3d_euler_deg(np.array([sensor["rotation"]])))[0],
            "sensor2lidar_translation": np.array(offset_m),
            "cam_intrinsic": np.array(_pinhole(sensor)),
        }


def _pinhole(sensor: CalibratedSensorRow) -> list[Vector]:
    if "uav_lens" in sensor:
        raise DatasetError(f"{sensor['token']}: UAV3D's info files cannot represent the lens {sensor['uav_lens']}")
    return sensor["camera_intrinsic"]


class _BoxesOfScene:
    """All boxes of a scene as columns, and their rows by sample."""

    def __init__(self, rows: Tables, category_of: dict[str, str]) -> None:
        boxes = SAMPLE_ANNOTATION.of(rows)
        self._rows_of: dict[str, list[int]] = {}
        for number, row in enumerate(boxes):
            self._rows_of.setdefault(row["sample_token"], []).append(number)
        category = {row["token"]: category_of[row["category_token"]] for row in INSTANCE.of(rows)}
        self._position_m = column(boxes, "translation", 3)
        self._size = column(boxes, "size", 3)
        self._yaw_rad = np.radians(uav3d_euler_deg(column(boxes, "rotation", 4))[:, 2]) if boxes else np.zeros(0)
        self._names = np.array([_their_name(category[row["instance_token"]]) for row in boxes])
        self._points = np.array([[row["num_lidar_pts"], row["num_radar_pts"]] for row in boxes]).reshape(-1, 2)
        self._velocity = _velocities(boxes, self._position_m, SAMPLE.of(rows))

    def ground_truth(self, sample_token: str, ego: FloatArray) -> JsonDict:
        rows = np.array(self._rows_of.get(sample_token, []), dtype=np.int64)
        rows = rows[_in_range(self._position_m[rows] - ego)]
        lidar_pts, radar_pts = self._points[rows].T
        return {
            "gt_boxes": np.concatenate(
                [self._position_m[rows] - ego, self._size[rows], -self._yaw_rad[rows, None] - np.pi / 2], axis=1
            ),
            "gt_names": self._names[rows],
            "gt_velocity": self._velocity[rows],
            "num_lidar_pts": lidar_pts,
            "num_radar_pts": radar_pts,
            "valid_flag": lidar_pts + radar_pts != 0,
            "location": "Atlanta",  # UAV3D's training code reads this name for every town
        }


def _in_range(position_m: FloatArray) -> BoolArray:
    """Return (N,) bool, True for (N, 3) origins from drone 0's ground point that UAV3D labels; not those in towns on hills."""
    return np.asarray((np.abs(position_m) < _RANGE_M).all(axis=1))


def _velocities(boxes: list[SampleAnnotationRow], position_m: FloatArray, samples: list[SampleRow]) -> FloatArray:
    """Return (N, 2) velocities, m/s, like the devkit's ``box_velocity``: finite differences, NaN over long gaps."""
    row_of = {row["token"]: number for number, row in enumerate(boxes)}
    stamp_s = {row["token"]: 1e-6 * row["timestamp"] for row in samples}
    row_numbers = np.arange(len(boxes))
    first = np.array([row_of[row["prev"]] if row["prev"] else n for n, row in enumerate(boxes)], dtype=np.int64)
    last = np.array([row_of[row["next"]] if row["next"] else n for n, row in enumerate(boxes)], dtype=np.int64)
    times = np.array([stamp_s[row["sample_token"]] for row in boxes])
    span_s = times[last] - times[first] if len(boxes) else np.zeros(0)
    limit_s = np.where((first != row_numbers) & (last != row_numbers), 2 * _MAX_TIME_DIFF_S, _MAX_TIME_DIFF_S)
    known = (first != last) & (span_s <= limit_s)
    velocity = np.full((len(boxes), 2), np.nan)
    velocity[known] = ((position_m[last] - position_m[first])[known] / span_s[known, None])[:, :2]
    return velocity


def _their_name(category: str) -> str:
    return "car" if category.split(".", maxsplit=1)[0] == "vehicle" else category


def _channel_key(channel: str) -> tuple[int, int, str]:
    """Sort channels like UAV3D: by drone, then FRONT, BACK, LEFT, RIGHT, BOTTOM; single-drone code uses the first five."""
    camera, drone = split_channel(channel)
    known = _CAMERA_ORDER.index(camera) if camera in _CAMERA_ORDER else len(_CAMERA_ORDER)
    return drone, known, camera


def _write(path: ResultPath, infos: list[JsonDict], version: str) -> Path:
    with whole_file(path) as file:
        pickle.dump({"infos": infos, "metadata": {"version": version}}, file, protocol=4)
    return path.display_path
