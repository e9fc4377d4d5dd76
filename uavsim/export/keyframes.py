"""A strict data set keyframe by keyframe, as arrays: what every exporter starts from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from uavsim.dataset.dialects import STRICT, dialect_of
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.dataset.reader import DatasetReader, SceneRows, open_dataset
from uavsim.dataset.rows import (
    CalibratedSensorRow,
    EgoPoseRow,
    InstanceRow,
    SampleAnnotationRow,
    SampleDataRow,
    VisibilityDetailRow,
)
from uavsim.dataset.schema import (
    CALIBRATED_SENSOR,
    CATEGORY,
    EGO_POSE,
    INSTANCE,
    LAYER,
    SAMPLE,
    SAMPLE_ANNOTATION,
    SAMPLE_DATA,
    SENSOR,
    VISIBILITY_DETAIL,
)
from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.geometry.se3 import SE3
from uavsim.registry import nearest
from uavsim.typing import FloatArray, IntArray

__all__ = ["BoxColumns", "CameraView", "ExportRequest", "Keyframe", "LidarTurn", "Source", "open_source"]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export.

    Attributes:
        root: a data set in the strict dialect.
        out: folder of the result; made if missing.
        version: version folder; by default the only one.
        split: name in ``splits.json``; by default every scene.
    """

    root: Path
    out: Path
    version: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CameraView:
    """One image of a keyframe.

    Attributes:
        token: of its ``sample_data``.
        camera: ``FRONT``.
        flu_SE3_optical: the camera's mount on the drone.
        map_SE3_flu: the drone.
        layers: kind -> file name of what was taken at the same pose.
    """

    token: str
    channel: str
    drone_id: int
    camera: str
    filename: str
    size_px: tuple[int, int]
    intrinsic: FloatArray
    flu_SE3_optical: SE3
    map_SE3_flu: SE3
    ego_velocity_map_mps: FloatArray
    layers: dict[str, str] = field(default_factory=dict)

    @property
    def map_SE3_optical(self) -> SE3:
        """The camera."""
        return self.map_SE3_flu @ self.flu_SE3_optical


@dataclass(frozen=True, slots=True, eq=False)
class LidarTurn:
    """The points of one drone's lidar at a keyframe, and its mount on the drone."""

    drone_id: int
    filename: str
    flu_SE3_sensor: SE3


@dataclass(frozen=True, slots=True, eq=False)
class BoxColumns:
    """The N boxes of a keyframe: rows as in the table, (N,) poses, and (N, ...) columns, map frame, metres."""

    rows: list[SampleAnnotationRow]
    category: list[str]
    instance_id: IntArray
    map_SE3_box: SE3
    size_lwh_m: FloatArray
    velocity_map_mps: FloatArray
    visible_px: IntArray
    details: list[VisibilityDetailRow]


@dataclass(frozen=True, slots=True, eq=False)
class Keyframe:
    """One sample; ``number`` counts in its scene. ``bev`` is LIDAR_TOP on the ground, ``lidar_file`` its points."""

    scene: str
    number: int
    token: str
    timestamp_us: int
    cameras: list[CameraView]
    boxes: BoxColumns
    map_SE3_bev: SE3
    lidar_file: str
    turns: list[LidarTurn] = field(default_factory=list)

    def drones(self) -> dict[int, list[CameraView]]:
        """Return the cameras of each drone."""
        by_drone: dict[int, list[CameraView]] = {}
        for view in self.cameras:
            by_drone.setdefault(view.drone_id, []).append(view)
        return by_drone


class Source:
    """A data set opened for export."""

    def __init__(self, reader: DatasetReader, split: str | None) -> None:
        """Remember which scenes are wanted.

        Raises:
            UnknownNameError: no such split.
        """
        self.reader, self.split = reader, split or "all"
        self.categories = {row["token"]: row for row in reader.shared(CATEGORY)}
        self._channel_of = {row["token"]: row["channel"] for row in reader.shared(SENSOR)}
        if split is not None and split not in reader.splits:
            guess = nearest(split, reader.splits)
            hint = f"did you mean {guess!r}?" if guess else f"known: {', '.join(reader.splits) or 'none'}"
            raise UnknownNameError(f"no split {split!r} in splits.json; {hint}")
        self._wanted = None if split is None else set(reader.splits[split])

    def keyframes(self) -> Iterator[Keyframe]:
        """Yield every keyframe of the wanted scenes, in table order."""
        for scene in self.wanted():
            yield from self.of_scene(scene)

    def wanted(self) -> Iterator[SceneRows]:
        """Yield the rows of the wanted scenes."""
        for scene in self.reader.scenes():
            if self._wanted is None or scene.scene["name"] in self._wanted:
                yield scene

    def of_scene(self, scene: SceneRows) -> Iterator[Keyframe]:
        """Yield the keyframes of a scene."""
        rows = scene.rows
        egos = {row["token"]: row for row in EGO_POSE.of(rows)}
        sensors = {row["token"]: row for row in CALIBRATED_SENSOR.of(rows)}
        layers: dict[str, dict[str, str]] = {}
        for layer in LAYER.of(rows):
            layers.setdefault(layer["sample_data_token"], {})[layer["kind"]] = layer["filename"]
        images: dict[str, list[SampleDataRow]] = {}
        for image in SAMPLE_DATA.of(rows):
            if image["is_key_frame"]:
                images.setdefault(image["sample_token"], []).append(image)
        instances = {row["token"]: row for row in INSTANCE.of(rows)}
        details = {row["sample_annotation_token"]: row for row in VISIBILITY_DETAIL.of(rows)}
        boxes: dict[str, list[SampleAnnotationRow]] = {}
        for box in SAMPLE_ANNOTATION.of(rows):
            boxes.setdefault(box["sample_token"], []).append(box)
        for number, sample in enumerate(SAMPLE.of(rows)):
            taken = images.get(sample["token"], [])
            views = [row for row in taken if sensors[row["calibrated_sensor_token"]]["camera_intrinsic"]]
            lidars = {self._channel(row, sensors): row for row in taken if row not in views}
            bev = lidars.pop(BEV_CHANNEL, None)
            if not views or bev is None:
                raise DatasetError(f"{scene.scene['name']}: sample {number} lacks cameras or LIDAR_TOP")
            yield Keyframe(
                scene=scene.scene["name"],
                number=number,
                token=sample["token"],
                timestamp_us=sample["timestamp"],
                cameras=[self._view(row, sensors, egos, layers) for row in views],
                boxes=self._columns(boxes.get(sample["token"], []), instances, details),
                map_SE3_bev=_pose_of(egos[bev["ego_pose_token"]]),
                lidar_file=bev["filename"],
                turns=[_turn(channel, row, sensors) for channel, row in lidars.items()],
            )

    def _channel(self, row: SampleDataRow, sensors: dict[str, CalibratedSensorRow]) -> str:
        return self._channel_of[sensors[row["calibrated_sensor_token"]]["sensor_token"]]

    def _view(
        self,
        row: SampleDataRow,
        sensors: dict[str, CalibratedSensorRow],
        egos: dict[str, EgoPoseRow],
        layers: dict[str, dict[str, str]],
    ) -> CameraView:
        sensor, ego = sensors[row["calibrated_sensor_token"]], egos[row["ego_pose_token"]]
        channel = self._channel_of[sensor["sensor_token"]]
        name, _, drone = channel.removeprefix("CAMERA_").rpartition("_id_")
        return CameraView(
            token=row["token"],
            channel=channel,
            drone_id=int(drone) if drone.isdigit() else 0,
            camera=name or channel,
            filename=row["filename"],
            size_px=(row["width"], row["height"]),
            intrinsic=np.array(sensor["camera_intrinsic"], dtype=np.float64),
            flu_SE3_optical=_pose_of(sensor),
            map_SE3_flu=_pose_of(ego),
            ego_velocity_map_mps=np.array(ego.get("uav_velocity", (0.0, 0.0, 0.0)), dtype=np.float64),
            layers=layers.get(row["token"], {}),
        )

    def _columns(
        self,
        rows: list[SampleAnnotationRow],
        instances: dict[str, InstanceRow],
        details: dict[str, VisibilityDetailRow],
    ) -> BoxColumns:
        names = [self.categories[instances[row["instance_token"]]["category_token"]]["name"] for row in rows]
        ids = [row.get("uav_instance_id", n + 1) for n, row in enumerate(rows)]
        none = (float("nan"),) * 3
        return BoxColumns(
            rows=rows,
            category=names,
            instance_id=np.array(ids, dtype=np.int64),
            map_SE3_box=SE3(
                np.array([row["rotation"] for row in rows], dtype=np.float64).reshape(-1, 4),
                np.array([row["translation"] for row in rows], dtype=np.float64).reshape(-1, 3),
            ),
            size_lwh_m=np.array([row["size"] for row in rows], dtype=np.float64).reshape(-1, 3)[:, [1, 0, 2]],
            velocity_map_mps=np.array([row.get("uav_velocity", none) for row in rows], dtype=np.float64).reshape(-1, 3),
            visible_px=np.array([row.get("uav_visible_px", row["num_lidar_pts"]) for row in rows], dtype=np.int64),
            details=[details.get(row["token"], _unseen(row)) for row in rows],
        )


def _unseen(row: SampleAnnotationRow) -> VisibilityDetailRow:
    """Stand in for what a data set of others' does not tell."""
    return {"token": row["token"], "sample_annotation_token": row["token"], "seen_by": [], "views": []}


def _turn(channel: str, row: SampleDataRow, sensors: dict[str, CalibratedSensorRow]) -> LidarTurn:
    sensor, drone = sensors[row["calibrated_sensor_token"]], channel.rpartition("_id_")[2]
    return LidarTurn(
        drone_id=int(drone) if drone.isdigit() else 0,
        filename=row["filename"],
        flu_SE3_sensor=_pose_of(sensor),
    )


def _pose_of(row: CalibratedSensorRow | EgoPoseRow) -> SE3:
    return SE3(np.array(row["rotation"], dtype=np.float64), np.array(row["translation"], dtype=np.float64))


def open_source(request: ExportRequest) -> Source:
    """Open the data set of a request.

    Raises:
        InputError: it is in the uav3d dialect.
        DatasetError: it is no data set.
        UnknownNameError: no such version or split.
    """
    reader = open_dataset(request.root, request.version)
    if dialect_of(reader) is not STRICT:
        raise InputError(
            f"{request.root}: exports start from the strict dialect; run uavsim convert --dialect strict first"
        )
    return Source(reader, request.split)
