"""Scenes and samples, which make arrays from table rows on access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from uavsim.access.asynchrony import KnownImages, newest_known
from uavsim.access.bev import bev_of_boxes, bev_of_map
from uavsim.access.boxes import Boxes, Track
from uavsim.access.images import Image, LidarScan, RadarScan
from uavsim.access.scene_tables import SceneTables, SharedRows
from uavsim.access.streams import SensorStream
from uavsim.dataset.reader import SceneRows
from uavsim.dataset.schema import Table
from uavsim.errors import DatasetError
from uavsim.files.parse import reading, reads
from uavsim.geometry import quaternion
from uavsim.geometry.bev import BevFrame
from uavsim.geometry.se3 import SE3
from uavsim.records.road_map import RoadMap
from uavsim.typing import BoolArray, IntArray, JsonDict

Row = TypeVar("Row", bound=Mapping[str, object])


class Scene:
    """One scene; ``samples`` are its keyframes in order of time."""

    def __init__(self, rows: SceneRows, shared: SharedRows, stored: Mapping[str, str]) -> None:
        """Make a scene from its rows in the strict dialect.

        Args:
            rows: rows of every table.
            shared: shared rows of the dataset.
            stored: file name in the strict dialect -> name on disk, if they differ.
        """
        self._rows, self._tables = rows.rows, SceneTables(rows.rows, shared, stored)
        self.name = str(rows.scene["name"])
        self.token = str(rows.scene["token"])
        self.description = str(rows.scene.get("description", ""))
        logs = self._rows.get("log") or [{}]
        self.log: JsonDict = dict(logs[0])
        """Row of ``log``: the circumstances of the recording."""

    def __repr__(self) -> str:
        return f"Scene({self.name!r}, {len(self)} samples)"

    def __len__(self) -> int:
        return len(self._rows["sample"])

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    @property
    def town(self) -> str:
        """Town of the scene; "" if unknown."""
        return str(self.log.get("location", ""))

    @property
    def map(self) -> RoadMap:
        """Vector map of the town, from ``maps/expansion``.

        Raises:
            DatasetError: the map is missing or damaged.
            InputError: no installed package reads the map.
        """
        return self._tables.road_map()

    @property
    @reads
    def drawn(self) -> dict[str, float]:
        """Random numbers of the scene by configuration file and key: ``formation.spacing_m``; {} for none."""
        return {str(key): float(value) for key, value in self.log.get("uav_drawn", {}).items()}

    def rows(self, table: Table[Row]) -> list[Row]:
        """Return the scene's rows of a table in the strict dialect; [] for a missing table."""
        return table.of(self._rows)

    def images_of(self, channel: str) -> list[Image]:
        """Return all images of a camera, including sweeps, in order of time."""
        with reading(f"scene {self.name}"):
            return [self._tables.image_of(row) for row in self._rows_of(channel)]

    def known_at(self, timestamp_us: int, agent: int | str) -> dict[str, KnownImages]:
        """Return the newest images of every agent that a receiver with its own clock has at a time.

        Args:
            timestamp_us: true time; ``boxes_at`` gives the truth at the time of any image.
            agent: a drone's number.

        Raises:
            InputError: the agent has no clock.
        """
        return newest_known(self._camera_images, self._rows, agent=str(agent), timestamp_us=timestamp_us)

    @cached_property
    def _camera_images(self) -> tuple[Image, ...]:
        with reading(f"scene {self.name}"):
            cameras = [row for row in self._rows["sample_data"] if self._tables.modality(row) == "camera"]
            return tuple(self._tables.image_of(row) for row in cameras)

    def scans_of(self, channel: str) -> list[LidarScan | RadarScan]:
        """Return all scans of a lidar or radar, including sweeps, in order of time."""
        with reading(f"scene {self.name}"):
            kinds: dict[str, type[LidarScan | RadarScan]] = {"lidar": LidarScan, "radar": RadarScan}
            rows = [(row, kinds.get(self._tables.modality(row))) for row in self._rows_of(channel)]
            return [self._tables.scan_of(row, kind) for row, kind in rows if kind is not None]

    def _rows_of(self, channel: str) -> list[JsonDict]:
        channel_rows = [row for row in self._rows["sample_data"] if self._tables.channel(row) == channel]
        return sorted(channel_rows, key=lambda row: row["timestamp"])

    def boxes_at(self, timestamp_us: int) -> Boxes:
        """Return the boxes at the time of a keyframe or a sweep; boxes of a sweep have no velocities and views.

        Raises:
            DatasetError: the dataset has no boxes at this time.
        """
        found = self._sample_at.get(timestamp_us)
        if found is not None:
            return found.boxes
        with reading(f"scene {self.name}"):
            rows = self._tables.sweep_rows(timestamp_us)
            if not rows:
                raise DatasetError(
                    f"{self.name}: no boxes at {timestamp_us} us; boxes between keyframes need the table sweep_annotation"
                )
            return self._tables.boxes_of(rows)

    @cached_property
    def _sample_at(self) -> dict[int, Sample]:
        return {sample.timestamp_us: sample for sample in self.samples}

    @property
    def reports_views(self) -> bool:
        """Whether the dataset has ``Boxes.views``."""
        return bool(self._rows.get("visibility_detail"))

    @property
    def streams(self) -> tuple[SensorStream, ...]:
        """Sensors with their own rates: IMU, GNSS, barometer, magnetometer of drones and cars."""
        with reading(f"scene {self.name}"):
            return tuple(
                SensorStream(
                    channel=row["channel"],
                    kind=row["kind"],
                    motion=row["motion"],
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
            sample_rows = {name: rows_by_token.get(row["token"], []) for name, rows_by_token in of_sample.items()}
            return Sample(self.name, self._tables, number, row, sample_rows)

        return tuple(sample(number, row) for number, row in enumerate(self._rows["sample"]))

    @cached_property
    @reads
    def tracks(self) -> tuple[Track, ...]:
        """Tracks of all objects, in order of their first box."""
        box_rows: dict[str, list[tuple[int, int]]] = {}
        for sample in self.samples:
            for row, token in enumerate(sample.boxes.instance_tokens):
                box_rows.setdefault(token, []).append((sample.number, row))
        return tuple(self._track(token, found) for token, found in box_rows.items())

    @reads
    def map_SE3_drones(self) -> dict[int, SE3]:
        """Return (samples,) poses ``map_SE3_flu`` of each drone, by its first camera."""
        poses_by_drone: dict[int, list[SE3]] = {}
        for sample in self.samples:
            poses = {image.drone_id: image.map_SE3_flu for image in reversed(sample.images)}
            for drone, pose in poses.items():
                poses_by_drone.setdefault(drone, []).append(pose)
        return {drone: SE3.stack(drone_poses) for drone, drone_poses in sorted(poses_by_drone.items())}

    def _track(self, token: str, box_rows: list[tuple[int, int]]) -> Track:
        boxes = [(self.samples[number].boxes, row) for number, row in box_rows]
        first, row = boxes[0]
        return Track(
            instance_token=token,
            category=first.categories[row],
            instance_id=int(first.instance_id[row]),
            sample_numbers=np.array([number for number, _ in box_rows], dtype=np.int64),
            timestamps_us=np.array([self.samples[number].timestamp_us for number, _ in box_rows], dtype=np.int64),
            map_SE3_box=SE3.stack([b.map_SE3_box[r] for b, r in boxes]),
            size_lwh_m=np.stack([b.size_lwh_m[r] for b, r in boxes]),
            velocity_map_mps=np.stack([b.velocity_map_mps[r] for b, r in boxes]),
        )


class Sample:
    """One keyframe: all sensors at one time, with labels."""

    def __init__(
        self, scene: str, tables: SceneTables, number: int, row: JsonDict, rows: Mapping[str, list[JsonDict]]
    ) -> None:
        """Make a sample of a scene from its rows."""
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
        """CARLA's weather parameters; {} if unknown."""
        return {str(name): float(value) for name, value in self._row.get("uav_weather", {}).items()}

    @cached_property
    def images(self) -> tuple[Image, ...]:
        """The camera images in table order."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return tuple(map(self._tables.image_of, self._of("camera")))

    @cached_property
    def lidars(self) -> tuple[LidarScan, ...]:
        """The lidar scans, including LIDAR_TOP."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return tuple(self._tables.scan_of(row, LidarScan) for row in self._of("lidar"))

    @cached_property
    def radars(self) -> tuple[RadarScan, ...]:
        """The radar scans."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return tuple(self._tables.scan_of(row, RadarScan) for row in self._of("radar"))

    @cached_property
    def boxes(self) -> Boxes:
        """The labelled boxes."""
        with reading(f"scene {self.scene_name}, sample {self.number}"):
            return self._tables.boxes_of(self._rows["sample_annotation"])

    def bev(
        self,
        layers: Sequence[str] = ("drivable_area", "lane", "ped_crossing"),
        classes: Sequence[str] = (),
        *,
        agent: int | str = 0,
        size_m: tuple[float, float] = (100.0, 100.0),
        metres_per_px: float = 0.5,
    ) -> BoolArray:
        """Return a bird's-eye-view raster around an agent, like ``NuScenesMap.get_map_mask``.

        Args:
            layers: layers of the map; () for boxes only, which needs no map.
            classes: classes of boxes: names of categories, or their first words (``vehicle``).
            agent: id in channel names: 0 for the first drone, ``"v0"`` for the first car.
            size_m: lengths along and across the agent's heading.
            metres_per_px: size of a pixel.

        Returns:
            (layers + classes, H, W) bool: columns along the heading, rows to its left, the agent in the centre.

        Raises:
            DatasetError: the agent has no channel, or the town has no map; see ``Scene.map``.
            UnknownNameError: a layer does not exist.
        """
        readings: tuple[Image | LidarScan, ...] = (*self.lidars, *self.images)
        poses = {reading.channel.rpartition("_id_")[2]: reading.map_SE3_flu for reading in readings}
        pose = poses.get(str(agent)) if str(agent) in poses or agent != 0 else next(iter(poses.values()), None)
        if pose is None:
            raise DatasetError(
                f"{self.scene_name}: sample {self.number} has no agent {agent}; it has {', '.join(sorted(poses))}"
            )
        x, y, _ = pose.translation_m.tolist()
        frame = BevFrame((x, y), float(quaternion.yaw(pose.quat_wxyz)), size_m, metres_per_px)
        ground = [bev_of_map(self._tables.road_map(), layers, frame)] if layers else []
        return np.concatenate([*ground, bev_of_boxes(self.boxes, classes, frame)])

    def drone_ids(self) -> IntArray:
        """Return (drones,) ids of the drones with images, sorted."""
        return np.unique(np.array([image.drone_id for image in self.images], dtype=np.int64))

    def _of(self, modality: str) -> list[JsonDict]:
        return [row for row in self._rows["sample_data"] if self._tables.modality(row) == modality]
