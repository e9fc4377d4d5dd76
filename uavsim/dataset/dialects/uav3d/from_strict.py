"""Conversion of one scene from the strict dialect to uav3d."""

from dataclasses import dataclass

import numpy as np

from uavsim.dataset.dialects.uav3d.format import (
    FRAMES,
    Uav3dAnnotationRow,
    Uav3dInstanceRow,
    Uav3dOptions,
    Uav3dSampleDataRow,
    column,
    image_path,
)
from uavsim.dataset.euler_safe import ned_quaternions
from uavsim.dataset.lens_columns import copied_columns
from uavsim.dataset.reader import SceneRows
from uavsim.dataset.rows import (
    CalibratedSensorRow,
    EgoPoseRow,
    InstanceRow,
    LogRow,
    SampleAnnotationRow,
    SampleDataRow,
    SampleRow,
)
from uavsim.dataset.schema import (
    AGENT,
    CALIBRATED_SENSOR,
    CAMERA_POSE,
    EGO_POSE,
    INSTANCE,
    LAYER,
    LIDARSEG,
    LOG,
    SAMPLE,
    SAMPLE_ANNOTATION,
    SAMPLE_DATA,
    Tables,
    other_objects,
)
from uavsim.dataset.vocabulary import category_token
from uavsim.errors import DatasetError, InputError
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.classes import uav3d_category
from uavsim.typing import FloatArray


def uav3d_scene(scene: SceneRows, *, channel_of_sensor: dict[str, str], options: Uav3dOptions) -> SceneRows:
    """Convert one scene from strict to uav3d.

    Args:
        scene: strict rows.
        channel_of_sensor: sensor token -> channel.
        options: options of the dialect.

    Raises:
        DatasetError: a required row is missing.
        InputError: the scene has corner cases, or agents on the ground.
    """
    rows = scene.rows
    if any(rows.get(name) for name in other_objects()):
        raise InputError(
            f"{scene.scene['name']} has corner cases or objects besides traffic, which UAV3D's tools would count as cars; "
            "use a format of uavsim export"
        )
    if AGENT.of(rows):
        raise InputError(
            f"{scene.scene['name']} has agents on the ground, which the uav3d dialect cannot represent; use a format of "
            "uavsim export"
        )
    calibrated = {row["token"]: row for row in CALIBRATED_SENSOR.of(rows)}
    cameras, others = _cameras_and_others(SAMPLE_DATA.of(rows), calibrated, channel_of_sensor)
    poses = _camera_poses(cameras, rows)
    channels = [channel_of_sensor[calibrated[row["calibrated_sensor_token"]]["sensor_token"]] for row in cameras]
    log = LOG.of(rows)[0]
    of_others = {row["token"] for row in others}
    made: Tables = {
        **{name: table for name, table in rows.items() if name != LIDARSEG.name},
        "sample": [_sample(row, options) for row in SAMPLE.of(rows)],
        "sample_data": [
            _sample_data(row, channel, log, options) for row, channel in zip(cameras, channels, strict=True)
        ],
        "ego_pose": [_ego_pose(row, options) for row in cameras],
        "calibrated_sensor": _calibrated_sensors(cameras, calibrated, poses),
        "instance": [_instance(row) for row in INSTANCE.of(rows)],
        "sample_annotation": _annotations(SAMPLE_ANNOTATION.of(rows), options),
        "layer": [row for row in LAYER.of(rows) if row["sample_data_token"] not in of_others],
        "strict_layer": [row for row in LAYER.of(rows) if row["sample_data_token"] in of_others],
        "strict_lidarseg": LIDARSEG.of(rows),
        "strict_sample_data": others,
        "strict_ego_pose": EGO_POSE.of(rows),
        "strict_calibrated_sensor": CALIBRATED_SENSOR.of(rows),
    }
    return SceneRows(scene=scene.scene, rows=made)


def _cameras_and_others(
    rows: list[SampleDataRow], calibrated: dict[str, CalibratedSensorRow], channel_of_sensor: dict[str, str]
) -> tuple[list[SampleDataRow], list[SampleDataRow]]:
    cameras: list[SampleDataRow] = []
    others: list[SampleDataRow] = []
    for row in rows:
        sensor = calibrated.get(row["calibrated_sensor_token"])
        if sensor is None or sensor["sensor_token"] not in channel_of_sensor:
            raise DatasetError(
                f"sample_data {row['token']} has no calibrated sensor; run uavsim validate on its dataset"
            )
        (cameras if sensor["camera_intrinsic"] else others).append(row)
    return cameras, others


@dataclass(frozen=True, slots=True, eq=False)
class _Poses:
    """Cameras of a scene: (N, 3) map positions, metres, and (N, 3) the simulator's roll, pitch, yaw, degrees."""

    map_t_m: FloatArray
    euler_deg: FloatArray


def _camera_poses(cameras: list[SampleDataRow], rows: Tables) -> _Poses:
    """Return the commanded poses of ``camera_pose``; without this table, poses from calibration and ego pose."""
    commanded = {row["token"]: row for row in CAMERA_POSE.of(rows)}
    if all(row["token"] in commanded for row in cameras):
        chosen = [commanded[row["token"]] for row in cameras]
        return _Poses(column(chosen, "translation", 3), column(chosen, "euler_deg", 3))
    ego = {row["token"]: row for row in EGO_POSE.of(rows)}
    sensor = {row["token"]: row for row in CALIBRATED_SENSOR.of(rows)}
    egos = [ego[row["ego_pose_token"]] for row in cameras]
    sensors = [sensor[row["calibrated_sensor_token"]] for row in cameras]
    map_SE3_optical = _transforms(egos) @ _transforms(sensors)
    return _Poses(map_SE3_optical.translation_m, unreal.ue_euler_from_map_q_optical(map_SE3_optical.quat_wxyz))


def _transforms(rows: list[EgoPoseRow] | list[CalibratedSensorRow]) -> SE3:
    return SE3.from_quat_wxyz(column(rows, "rotation", 4), column(rows, "translation", 3))


def _calibrated_sensors(
    cameras: list[SampleDataRow], calibrated: dict[str, CalibratedSensorRow], poses: _Poses
) -> list[CalibratedSensorRow]:
    """Return one row per image, because UAV3D's converter subtracts the ego position in place."""
    positions_m = FRAMES.vector_from_map(poses.map_t_m).tolist()
    rotations = ned_quaternions(poses.euler_deg).tolist()
    return [
        {
            "token": row["token"],
            "sensor_token": calibrated[row["calibrated_sensor_token"]]["sensor_token"],
            "translation": position_m,
            "rotation": rotation,
            "camera_intrinsic": calibrated[row["calibrated_sensor_token"]]["camera_intrinsic"],
            **copied_columns(calibrated[row["calibrated_sensor_token"]]),
        }
        for row, position_m, rotation in zip(cameras, positions_m, rotations, strict=True)
    ]


def _sample(row: SampleRow, options: Uav3dOptions) -> SampleRow:
    return {**row, "timestamp": row["timestamp"] * options.stamp_factor}


def _sample_data(row: SampleDataRow, channel: str, log: LogRow, options: Uav3dOptions) -> Uav3dSampleDataRow:
    return {
        **row,
        "ego_pose_token": row["token"],
        "calibrated_sensor_token": row["token"],
        "timestamp": row["timestamp"] * options.stamp_factor,
        "filename": image_path(row, channel, log),
        "uav_filename": row["filename"],
        "uav_ego_pose_token": row["ego_pose_token"],
        "uav_calibrated_sensor_token": row["calibrated_sensor_token"],
    }


def _ego_pose(row: SampleDataRow, options: Uav3dOptions) -> EgoPoseRow:
    return {
        "token": row["token"],
        "timestamp": row["timestamp"] * options.stamp_factor,
        "rotation": [1.0, 0.0, 0.0, 0.0],
        "translation": [0.0, 0.0, 0.0],
    }


def _instance(row: InstanceRow) -> Uav3dInstanceRow:
    name = row.get("uav_category") or uav3d_category(str(row.get("uav_blueprint", "vehicle.unknown.unknown")))
    return {**row, "category_token": category_token(name), "uav_category_token": row["category_token"]}


def _annotations(rows: list[SampleAnnotationRow], options: Uav3dOptions) -> list[Uav3dAnnotationRow]:
    if not rows:
        return []
    centres, rotations = column(rows, "translation", 3), column(rows, "rotation", 4)
    origins = FRAMES.vector_from_map(_origins(rows, centres, rotations)).tolist()
    turned = FRAMES.rotation_from_map(rotations).tolist()
    return [
        {
            **row,
            "translation": origin,
            "size": FRAMES.size_from_wlh(row["size"]),
            "rotation": rotation,
            "num_lidar_pts": row["num_lidar_pts"] if options.num_pts == "visible" else -1,
            "num_radar_pts": row["num_radar_pts"] if options.num_pts == "visible" else -1,
            "uav_box_translation": row["translation"],
            "uav_num_pts": [row["num_lidar_pts"], row["num_radar_pts"]],
        }
        for row, origin, rotation in zip(rows, origins, turned, strict=True)
    ]


def _origins(rows: list[SampleAnnotationRow], centres: FloatArray, rotations: FloatArray) -> FloatArray:
    """Return (N, 3) actor origins in the map frame, metres: recorded ones, or else the centres of the lower faces."""
    if all("uav_actor_translation" in row for row in rows):
        return column(rows, "uav_actor_translation", 3)
    down = np.zeros_like(centres)
    down[:, 2] = -column(rows, "size", 3)[:, 2] / 2
    return SE3.from_quat_wxyz(rotations, centres).apply(down)
