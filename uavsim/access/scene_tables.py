"""The rows of a scene by token, and the images, scans and boxes made from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from uavsim.access.boxes import UNKNOWN, Boxes, boxes_of
from uavsim.access.images import NOTHING_IGNORED, Image, LidarScan, ShutterTicks
from uavsim.access.towns import read_road_map
from uavsim.dataset.lens_columns import lens_of, shutter_of
from uavsim.dataset.schema import Tables
from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.geometry.se3 import SE3
from uavsim.images.png import MOST_PIXELS
from uavsim.records.road_map import RoadMap
from uavsim.typing import IntArray, JsonDict

Scan = TypeVar("Scan", bound=LidarScan)


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The rows that belong to no scene.

    Attributes:
        files: the dataset's folder.
        sensors: rows of ``sensor`` by token.
        category_names: category names by token.
        road_maps: cache of the vector maps by town.
    """

    files: DataFolder
    sensors: Mapping[str, JsonDict]
    category_names: Mapping[str, str]
    road_maps: dict[str, RoadMap] = field(default_factory=dict)

    def road_map(self, town: str) -> RoadMap:
        """Return a town's map expansion, from the cache if possible.

        Raises:
            DatasetError: the map is missing or damaged.
            InputError: no installed package reads the map.
        """
        if town not in self.road_maps:
            self.road_maps[town] = read_road_map(self.files, town)
        return self.road_maps[town]


class SceneTables:
    """The rows of a scene by token, which its samples share.

    It has no reference to the samples: cycles would keep the rows in memory until the garbage collector runs.
    """

    def __init__(self, rows: Tables, shared: SharedRows, stored: Mapping[str, str]) -> None:
        self._rows, self._shared, self._stored = rows, shared, stored
        self._mounts: dict[str, SE3] = {}

    def by_sample(self, table: str) -> dict[str, list[JsonDict]]:
        """Return the rows of keyframes by the token of their sample."""
        found: dict[str, list[JsonDict]] = {}
        if table == "sample_annotation" and not ("instance" in self._rows and self._shared.category_names):
            return found  # without classes, boxes are unavailable
        for row in self._rows.get(table, ()):
            if row.get("is_key_frame", True):
                found.setdefault(row["sample_token"], []).append(row)
        return found

    @cached_property
    def _index(self) -> dict[str, dict[str, Any]]:
        keys = {
            "ego_pose": "token",
            "calibrated_sensor": "token",
            "instance": "token",
            "visibility_detail": "sample_annotation_token",
            "agent_view": "sample_data_token",
        }
        return {table: {row[key]: row for row in self._rows.get(table, ())} for table, key in keys.items()}

    @cached_property
    def _layers(self) -> dict[str, dict[str, str]]:
        layers: dict[str, dict[str, str]] = {}
        for row in self._rows.get("layer", ()):
            layers.setdefault(row["sample_data_token"], {})[row["kind"]] = self.on_disk(row["filename"])
        return layers

    @cached_property
    def _ignored_px(self) -> dict[str, IntArray]:
        boxes: dict[str, list[list[int]]] = {}
        for row in self._rows.get("ignore_region", ()):
            boxes.setdefault(row["sample_data_token"], []).append(row["box"])
        return {token: np.array(found, dtype=np.int64).reshape(-1, 4) for token, found in boxes.items()}

    @property
    def files(self) -> DataFolder:
        """The dataset's folder."""
        return self._shared.files

    def road_map(self) -> RoadMap:
        """Return the map of the scene's town; see ``Scene.map``."""
        logs = self._rows.get("log") or [{}]
        return self._shared.road_map(str(logs[0].get("location", "")))

    def on_disk(self, name: str) -> str:
        """Return the name on disk of a file of the strict dialect."""
        return self._stored.get(name, name)

    def _sensor(self, row: JsonDict) -> tuple[JsonDict, JsonDict]:
        """Return the calibration and the sensor of a row of ``sample_data``."""
        calibration = self._index["calibrated_sensor"][row["calibrated_sensor_token"]]
        return calibration, self._shared.sensors[calibration["sensor_token"]]

    def _mount(self, calibration: JsonDict) -> SE3:
        """Return the mount of a sensor, which is constant."""
        found = self._mounts.get(calibration["token"])
        if found is None:
            found = self._mounts[calibration["token"]] = _pose(calibration)
        return found

    def image_of(self, row: JsonDict) -> Image:
        """Make the image of a row of ``sample_data``."""
        calibration, sensor = self._sensor(row)
        ego = self._index["ego_pose"][row["ego_pose_token"]]
        return Image(
            token=row["token"],
            channel=sensor["channel"],
            timestamp_us=row["timestamp"],
            size_px=_size_px(row),
            intrinsic=np.array(calibration["camera_intrinsic"], dtype=np.float64),
            map_SE3_flu=_pose(ego),
            flu_SE3_optical=self._mount(calibration),
            drone_velocity_map_mps=np.array(ego.get("uav_velocity", UNKNOWN), dtype=np.float64),
            filename=self.on_disk(row["filename"]),
            files=self._shared.files,
            layers=self._layers.get(row["token"], {}),
            ignored_px=self._ignored_px.get(row["token"], NOTHING_IGNORED),
            reported=self._index["agent_view"].get(row["token"], {}),
            lens=lens_of(calibration, size_px=(row["width"], row["height"])),
            shutter_ticks=self._shutter_ticks(row["token"], calibration),
        )

    def _shutter_ticks(self, token: str, calibration: JsonDict) -> ShutterTicks | None:
        shutter, rows = shutter_of(calibration), self._shutter_rows.get(token)
        if shutter is None or not rows:
            return None
        return ShutterTicks(shutter, SE3.stack([_pose(row) for row in rows]))

    @cached_property
    def _shutter_rows(self) -> dict[str, list[JsonDict]]:
        found: dict[str, list[JsonDict]] = {}
        for row in sorted(self._rows.get("shutter_tick", ()), key=lambda row: row["timestamp"]):
            found.setdefault(row["sample_data_token"], []).append(row)
        return found

    def scan_of(self, row: JsonDict, kind: type[Scan]) -> Scan:
        """Make the scan of a row of ``sample_data``."""
        calibration, sensor = self._sensor(row)
        return kind(
            token=row["token"],
            channel=sensor["channel"],
            timestamp_us=row["timestamp"],
            map_SE3_flu=_pose(self._index["ego_pose"][row["ego_pose_token"]]),
            flu_SE3_sensor=self._mount(calibration),
            filename=self.on_disk(row["filename"]),
            files=self._shared.files,
        )

    def boxes_of(self, rows: list[JsonDict]) -> Boxes:
        """Make the boxes of rows of ``sample_annotation``."""
        return boxes_of(
            rows,
            instances=self._index["instance"],
            category_names=self._shared.category_names,
            details=self._index["visibility_detail"],
        )

    def sweep_rows(self, timestamp_us: int) -> list[JsonDict]:
        """Return rows like those of ``sample_annotation`` for a time between keyframes."""
        keep = ("size", "uav_visible_px", "num_lidar_pts", "uav_instance_id", "visibility_token")
        made = []
        for row in self._sweep_rows.get(timestamp_us, ()):
            boxes = self._annotations[row["instance_token"]]
            near = boxes.get(row["sample_token"]) or next(reversed(boxes.values()))
            made.append({key: near[key] for key in keep if key in near} | row)
        return made

    @cached_property
    def _sweep_rows(self) -> dict[int, list[JsonDict]]:
        found: dict[int, list[JsonDict]] = {}
        for row in self._rows.get("sweep_annotation", ()):
            found.setdefault(row["timestamp"], []).append(row)
        return found

    @cached_property
    def _annotations(self) -> dict[str, dict[str, JsonDict]]:
        found: dict[str, dict[str, JsonDict]] = {}
        for row in self._rows.get("sample_annotation", ()):
            found.setdefault(row["instance_token"], {})[row["sample_token"]] = row
        return found

    def channel(self, row: JsonDict) -> str:
        """Return the channel of a row of ``sample_data``."""
        return str(self._sensor(row)[1]["channel"])

    def modality(self, row: JsonDict) -> str:
        """Return camera, lidar or radar."""
        return str(self._sensor(row)[1]["modality"])


def _size_px(row: JsonDict) -> tuple[int, int]:
    """Return width and height of an image.

    Raises:
        DatasetError: the values are invalid, or too large.
    """
    width, height = row["width"], row["height"]
    if type(width) is type(height) is int and min(width, height) > 0 and width * height <= MOST_PIXELS:
        return width, height
    raise DatasetError(
        f"{row['filename']!a}: its row says {width!a:.40} x {height!a:.40} pixels; an image has {MOST_PIXELS:,} at most"
    )


def _pose(row: JsonDict) -> SE3:
    return SE3.from_quat_wxyz(
        np.array(row["rotation"], dtype=np.float64), np.array(row["translation"], dtype=np.float64)
    )
