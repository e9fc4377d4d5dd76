"""Scenes and samples: rows of the tables turned to arrays when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from uavsim.access.boxes import UNKNOWN, Boxes, Track, boxes_of
from uavsim.access.images import NOTHING_IGNORED, Image, LidarScan, RadarScan
from uavsim.access.streams import SensorStream
from uavsim.dataset.reader import SceneRows
from uavsim.dataset.schema import Table, Tables
from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.files.parse import reading, reads
from uavsim.geometry.se3 import SE3
from uavsim.typing import IntArray, JsonDict

__all__ = ["Sample", "Scene", "SharedRows"]

Row = TypeVar("Row", bound=Mapping[str, object])
Scan = TypeVar("Scan", bound=LidarScan)


@dataclass(frozen=True, slots=True)
class SharedRows:
    """The rows that belong to no scene.

    Attributes:
        files: the dataset's folder.
        sensors: rows of ``sensor`` by token.
        category_names: by token.
    """

    files: DataFolder
    sensors: Mapping[str, JsonDict]
    category_names: Mapping[str, str]


class Scene:
    """One scene; ``samples`` are its keyframes in the order of time."""

    def __init__(self, rows: SceneRows, shared: SharedRows, stored: Mapping[str, str]) -> None:
        """Take the rows of a scene in the strict dialect.

        Args:
            rows: of every table.
            shared: what belongs to no scene.
            stored: file name in the strict dialect -> name on disk, where they differ.
        """
        self._rows, self._tables = rows.rows, _SceneTables(rows.rows, shared, stored)
        self.name = str(rows.scene["name"])
        self.token = str(rows.scene["token"])
        self.description = str(rows.scene.get("description", ""))
        logs = self._rows.get("log") or [{}]
        self.log: JsonDict = dict(logs[0])
        """Row of ``log``: what the scene was recorded with."""

    def __repr__(self) -> str:
        return f"Scene({self.name!r}, {len(self)} samples)"

    def __len__(self) -> int:
        return len(self._rows["sample"])

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    @property
    def town(self) -> str:
        """Return where it was recorded; "" where the dataset does not say."""
        return str(self.log.get("location", ""))

    def rows(self, table: Table[Row]) -> list[Row]:
        """Return the scene's rows of a table as they are, in the strict dialect; [] where the dataset has none."""
        return table.of(self._rows)

    def images_of(self, channel: str) -> list[Image]:
        """Return every image of a camera, those between the samples too, in the order of time."""
        with reading(f"scene {self.name}"):
            own = [row for row in self._rows["sample_data"] if self._tables.channel(row) == channel]
            return [self._tables.image_of(row) for row in sorted(own, key=lambda row: row["timestamp"])]

    def boxes_at(self, timestamp_us: int) -> Boxes:
        """Return the boxes of a keyframe, or of an instant between two: there without velocities and views.

        Raises:
            DatasetError: the dataset says nothing of that instant.
        """
        found = self._sample_at.get(timestamp_us)
        if found is not None:
            return found.boxes
        with reading(f"scene {self.name}"):
            rows = self._tables.sweep_rows(timestamp_us)
            if not rows:
                raise DatasetError(
                    f"{self.name}: no boxes at {timestamp_us} us; sweep_annotation has them between keyframes"
                )
            return self._tables.boxes_of(rows)

    @cached_property
    def _sample_at(self) -> dict[int, Sample]:
        return {sample.timestamp_us: sample for sample in self.samples}

    @property
    def reports_views(self) -> bool:
        """Return whether the dataset says what each image shows of each box: ``Boxes.views``."""
        return bool(self._rows.get("visibility_detail"))

    @property
    def streams(self) -> tuple[SensorStream, ...]:
        """Sensors that measure at rates of their own: IMU, GNSS, barometer, magnetometer of each drone."""
        with reading(f"scene {self.name}"):
            return tuple(
                SensorStream(
                    channel=row["channel"],
                    kind=row["kind"],
                    rate_hz=float(row["rate_hz"]),
                    filename=self._tables.on_disk(row["filename"]),
                    files=self._tables.files,
                )
                for row in self._rows.get("stream", ())
            )

    @cached_property
    @reads
    def samples(self) -> tuple[Sample, ...]:
        """The keyframes."""
        of_sample = {name: self._tables.by_sample(name) for name in ("sample_data", "sample_annotation")}

        def sample(number: int, row: JsonDict) -> Sample:
            own = {name: found.get(row["token"], []) for name, found in of_sample.items()}
            return Sample(self.name, self._tables, number, row, own)

        return tuple(sample(number, row) for number, row in enumerate(self._rows["sample"]))

    @cached_property
    @reads
    def tracks(self) -> tuple[Track, ...]:
        """Every object, in the order of its first box."""
        places: dict[str, list[tuple[int, int]]] = {}
        for sample in self.samples:
            for row, token in enumerate(sample.boxes.instance_tokens):
                places.setdefault(token, []).append((sample.number, row))
        return tuple(self._track(token, found) for token, found in places.items())

    @reads
    def map_SE3_drones(self) -> dict[int, SE3]:
        """Return the way of each drone over the samples, (samples,): the pose of its first camera."""
        ways: dict[int, list[SE3]] = {}
        for sample in self.samples:
            seen = set()
            for image in sample.images:
                if image.drone_id not in seen:
                    ways.setdefault(image.drone_id, []).append(image.map_SE3_flu)
                    seen.add(image.drone_id)
        return {drone: SE3.stack(way) for drone, way in sorted(ways.items())}

    def _track(self, token: str, places: list[tuple[int, int]]) -> Track:
        boxes = [(self.samples[number].boxes, row) for number, row in places]
        first, row = boxes[0]
        return Track(
            instance_token=token,
            category=first.categories[row],
            instance_id=int(first.instance_id[row]),
            sample_numbers=np.array([number for number, _ in places], dtype=np.int64),
            timestamps_us=np.array([self.samples[number].timestamp_us for number, _ in places], dtype=np.int64),
            map_SE3_box=SE3.stack([b.map_SE3_box[r] for b, r in boxes]),
            size_lwh_m=np.stack([b.size_lwh_m[r] for b, r in boxes]),
            velocity_map_mps=np.stack([b.velocity_map_mps[r] for b, r in boxes]),
        )


class _SceneTables:
    """The rows of a scene by token: what its samples share.

    It does not know them: rows in a cycle would stay in memory until Python's collector walks over all of them.
    """

    def __init__(self, rows: Tables, shared: SharedRows, stored: Mapping[str, str]) -> None:
        self._rows, self._shared, self._stored = rows, shared, stored
        self._mounts: dict[str, SE3] = {}

    def by_sample(self, table: str) -> dict[str, list[JsonDict]]:
        """Return the rows of keyframes by the token of their sample."""
        found: dict[str, list[JsonDict]] = {}
        if table == "sample_annotation" and not ("instance" in self._rows and self._shared.category_names):
            return found  # of others, without the tables that say what a box is of
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

    def on_disk(self, name: str) -> str:
        """Return what a file of the strict dialect is called on disk."""
        return self._stored.get(name, name)

    def _sensor(self, row: JsonDict) -> tuple[JsonDict, JsonDict]:
        """Return the calibration and the sensor of a row of ``sample_data``."""
        calibration = self._index["calibrated_sensor"][row["calibrated_sensor_token"]]
        return calibration, self._shared.sensors[calibration["sensor_token"]]

    def _mount(self, calibration: JsonDict) -> SE3:
        """Return how a sensor is mounted; it is the same in all samples."""
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
            size_px=(row["width"], row["height"]),
            intrinsic=np.array(calibration["camera_intrinsic"], dtype=np.float64),
            map_SE3_flu=_pose(ego),
            flu_SE3_optical=self._mount(calibration),
            drone_velocity_map_mps=np.array(ego.get("uav_velocity", UNKNOWN), dtype=np.float64),
            filename=self.on_disk(row["filename"]),
            files=self._shared.files,
            layers=self._layers.get(row["token"], {}),
            ignored_px=self._ignored_px.get(row["token"], NOTHING_IGNORED),
            reported=self._index["agent_view"].get(row["token"], {}),
        )

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
        """Return rows as of ``sample_annotation`` for an instant between keyframes."""
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


class Sample:
    """One keyframe: all sensors at one point in time, with labels."""

    def __init__(
        self, scene: str, tables: _SceneTables, number: int, row: JsonDict, rows: Mapping[str, list[JsonDict]]
    ) -> None:
        """Take the rows that belong to the sample of a scene of that name."""
        self._tables, self._row, self._rows = tables, row, rows
        self.number = number
        self.token = str(row["token"])
        self.timestamp_us = int(row["timestamp"])
        self.scene_name = scene

    def __repr__(self) -> str:
        return f"Sample({self.scene_name!r}, {self.number})"

    @property
    @reads
    def weather(self) -> dict[str, float]:
        """CARLA's weather parameters; {} where the dataset does not say."""
        return {str(name): float(value) for name, value in self._row.get("uav_weather", {}).items()}

    @cached_property
    def images(self) -> tuple[Image, ...]:
        """The camera images, in the order of the table."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return tuple(map(self._tables.image_of, self._of("camera")))

    @cached_property
    def lidars(self) -> tuple[LidarScan, ...]:
        """The lidar scans, LIDAR_TOP among them."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return tuple(self._tables.scan_of(row, LidarScan) for row in self._of("lidar"))

    @cached_property
    def radars(self) -> tuple[RadarScan, ...]:
        """The radars' measurements."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return tuple(self._tables.scan_of(row, RadarScan) for row in self._of("radar"))

    @cached_property
    def boxes(self) -> Boxes:
        """The labels."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return self._tables.boxes_of(self._rows["sample_annotation"])

    def drone_ids(self) -> IntArray:
        """Return the drones that have images, sorted."""
        return np.unique(np.array([image.drone_id for image in self.images], dtype=np.int64))

    def _of(self, modality: str) -> list[JsonDict]:
        return [row for row in self._rows["sample_data"] if self._tables.modality(row) == modality]


def _pose(row: JsonDict) -> SE3:
    return SE3.from_quat_wxyz(
        np.array(row["rotation"], dtype=np.float64), np.array(row["translation"], dtype=np.float64)
    )
