"""The uav3d dialect: the tables as UAV3D's own converters and viewers read them, from the strict ones and back.

What differs, row by row (docs/formats.md, "uav3d"): global camera poses in ``calibrated_sensor`` with one row an image, in the
simulator's left-handed axes with AirSim's NED quaternions; identity ego poses; actor origins instead of box centres; sizes as
length, width, height; blueprints as categories; images in ``sweeps/<town>_<row>/<channel>/<ns>.png``; no LIDAR_TOP.

What this dialect has no place for travels in fields and tables that nobody else reads (``uav_*``, ``strict_*``), in our own
frame, so that going there and back is the identity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from uavsim.dataset.classes import uav3d_category
from uavsim.dataset.euler_safe import ned_quaternions
from uavsim.dataset.reader import SceneRows
from uavsim.dataset.vocabulary import category_token
from uavsim.errors import DatasetError
from uavsim.geometry import frames, quaternion, unreal
from uavsim.typing import FloatArray, JsonDict

__all__ = ["Uav3dOptions", "sweep_folder", "uav3d_scene"]

TimestampUnit = Literal["us", "ns"]
NumPts = Literal["visible", "minus_one"]
NS_PER_US: Final = 1000


@dataclass(frozen=True, slots=True)
class Uav3dOptions:
    """Where the dialect can be had in two ways.

    Attributes:
        timestamp_unit: ``us`` gives velocities in their tools; ``ns`` is what the release has, where they are nan.
        num_pts: ``visible`` pixels as in the strict dialect, or ``minus_one`` twice as in the release.
    """

    timestamp_unit: TimestampUnit = "us"
    num_pts: NumPts = "visible"

    @property
    def stamp_factor(self) -> int:
        """Stamps of the dialect in one microsecond."""
        return NS_PER_US if self.timestamp_unit == "ns" else 1


def uav3d_scene(scene: SceneRows, *, channel_of_sensor: dict[str, str], options: Uav3dOptions) -> SceneRows:
    """Turn one strict scene into the uav3d dialect.

    Args:
        scene: strict rows.
        channel_of_sensor: sensor token -> channel, cameras and others.
        options: units.

    Raises:
        DatasetError: a row that the scene needs is missing.
    """
    rows = scene.rows
    calibrated = {row["token"]: row for row in rows["calibrated_sensor"]}
    cameras, others = _cameras_and_others(rows["sample_data"], calibrated, channel_of_sensor)
    poses = _camera_poses(cameras, rows)
    folder = sweep_folder(rows["log"][0])
    of_others = {row["token"] for row in others}
    made: dict[str, list[JsonDict]] = {
        **{name: table for name, table in rows.items() if name != "lidarseg"},
        "sample": [_stamped(row, options) for row in rows["sample"]],
        "sample_data": [
            _sample_data(
                row, channel_of_sensor[calibrated[row["calibrated_sensor_token"]]["sensor_token"]], folder, options
            )
            for row in cameras
        ],
        "ego_pose": [_ego_pose(row, options) for row in cameras],
        "calibrated_sensor": _calibrated_sensors(cameras, calibrated, poses),
        "instance": [_instance(row) for row in rows["instance"]],
        "sample_annotation": _annotations(rows["sample_annotation"], options),
        "layer": [row for row in rows.get("layer", ()) if row["sample_data_token"] not in of_others],
        "strict_layer": [row for row in rows.get("layer", ()) if row["sample_data_token"] in of_others],
        "strict_lidarseg": rows.get("lidarseg", []),
        "strict_sample_data": others,
        "strict_ego_pose": rows["ego_pose"],
        "strict_calibrated_sensor": rows["calibrated_sensor"],
    }
    return SceneRows(scene=scene.scene, rows=made)


def sweep_folder(log: JsonDict) -> str:
    """Return the folder of a route's images: ``town10_row1``, or town and route where the route names no row."""
    town = str(log.get("location", "town"))
    number = re.match(r"[Tt]own(\d+)", town)
    name = f"town{number[1]}" if number else re.sub(r"[^a-z0-9]+", "_", town.lower()).strip("_") or "town"
    route = str(log.get("uav_route", log.get("logfile", "")))
    row = re.search(r"r(?:ow)?_?(\d+)", route)
    tail = f"row{int(row[1])}" if row else re.sub(r"[^A-Za-z0-9]+", "_", route).strip("_") or "route"
    return f"{name}_{tail}"


def _cameras_and_others(
    rows: list[JsonDict], calibrated: dict[str, JsonDict], channel_of_sensor: dict[str, str]
) -> tuple[list[JsonDict], list[JsonDict]]:
    cameras: list[JsonDict] = []
    others: list[JsonDict] = []
    for row in rows:
        sensor = calibrated.get(row["calibrated_sensor_token"])
        if sensor is None or sensor["sensor_token"] not in channel_of_sensor:
            raise DatasetError(f"sample_data {row['token']} has no calibrated sensor; run uavsim validate")
        (cameras if sensor["camera_intrinsic"] else others).append(row)
    return cameras, others


@dataclass(frozen=True, slots=True, eq=False)
class _Poses:
    """Cameras of a scene: (N, 3) map positions and (N, 3) the simulator's roll, pitch, yaw in degrees."""

    map_t_m: FloatArray
    euler_deg: FloatArray


def _camera_poses(cameras: list[JsonDict], rows: dict[str, list[JsonDict]]) -> _Poses:
    """Take the poses that were commanded; where others wrote the data set, put calibration and ego pose together."""
    commanded = {row["token"]: row for row in rows.get("camera_pose", ())}
    if all(row["token"] in commanded for row in cameras):
        chosen = [commanded[row["token"]] for row in cameras]
        return _Poses(_array(chosen, "translation", 3), _array(chosen, "euler_deg", 3))
    ego = {row["token"]: row for row in rows["ego_pose"]}
    sensor = {row["token"]: row for row in rows["calibrated_sensor"]}
    egos = [ego[row["ego_pose_token"]] for row in cameras]
    sensors = [sensor[row["calibrated_sensor_token"]] for row in cameras]
    map_q_flu = _array(egos, "rotation", 4)
    map_q_optical = quaternion.multiply(map_q_flu, _array(sensors, "rotation", 4))
    map_t_m = _array(egos, "translation", 3) + quaternion.rotate(map_q_flu, _array(sensors, "translation", 3))
    return _Poses(map_t_m, unreal.ue_euler_from_map_q_optical(map_q_optical))


def _calibrated_sensors(cameras: list[JsonDict], calibrated: dict[str, JsonDict], poses: _Poses) -> list[JsonDict]:
    """Give every image its own row, never shared: UAV3D's converter subtracts the ego position in place."""
    places = unreal.ue_vector_from_map(poses.map_t_m).tolist()
    rotations = ned_quaternions(poses.euler_deg).tolist()
    return [
        {
            "token": row["token"],
            "sensor_token": calibrated[row["calibrated_sensor_token"]]["sensor_token"],
            "translation": place,
            "rotation": rotation,
            "camera_intrinsic": calibrated[row["calibrated_sensor_token"]]["camera_intrinsic"],
        }
        for row, place, rotation in zip(cameras, places, rotations, strict=True)
    ]


def _sample_data(row: JsonDict, channel: str, folder: str, options: Uav3dOptions) -> JsonDict:
    suffix = str(row["filename"]).rpartition(".")[2]
    return {
        **row,
        "ego_pose_token": row["token"],
        "calibrated_sensor_token": row["token"],
        "timestamp": row["timestamp"] * options.stamp_factor,
        "filename": f"sweeps/{folder}/{channel}/{row['timestamp'] * NS_PER_US}.{suffix}",
        "uav_filename": row["filename"],
        "uav_ego_pose_token": row["ego_pose_token"],
        "uav_calibrated_sensor_token": row["calibrated_sensor_token"],
    }


def _ego_pose(row: JsonDict, options: Uav3dOptions) -> JsonDict:
    return {
        "token": row["token"],
        "timestamp": row["timestamp"] * options.stamp_factor,
        "rotation": [1.0, 0.0, 0.0, 0.0],
        "translation": [0.0, 0.0, 0.0],
    }


def _instance(row: JsonDict) -> JsonDict:
    name = row.get("uav_category") or uav3d_category(str(row.get("uav_blueprint", "vehicle.unknown.unknown")))
    return {**row, "category_token": category_token(name), "uav_category_token": row["category_token"]}


def _annotations(rows: list[JsonDict], options: Uav3dOptions) -> list[JsonDict]:
    if not rows:
        return []
    centres, rotations = _array(rows, "translation", 3), _array(rows, "rotation", 4)
    origins_ue = unreal.ue_vector_from_map(_origins(rows, centres, rotations)).tolist()
    ned = (frames.quat_ned_from_map(rotations) + 0.0).tolist()
    return [
        {
            **row,
            "translation": origin,
            "size": [row["size"][1], row["size"][0], row["size"][2]],
            "rotation": rotation,
            "num_lidar_pts": row["num_lidar_pts"] if options.num_pts == "visible" else -1,
            "num_radar_pts": row["num_radar_pts"] if options.num_pts == "visible" else -1,
            "uav_box_translation": row["translation"],
            "uav_num_pts": [row["num_lidar_pts"], row["num_radar_pts"]],
        }
        for row, origin, rotation in zip(rows, origins_ue, ned, strict=True)
    ]


def _origins(rows: list[JsonDict], centres: FloatArray, rotations: FloatArray) -> FloatArray:
    """Return actor origins: as recorded, or the middle of the underside where others wrote the boxes."""
    if all("uav_actor_translation" in row for row in rows):
        return _array(rows, "uav_actor_translation", 3)
    down = np.zeros_like(centres)
    down[:, 2] = -_array(rows, "size", 3)[:, 2] / 2
    return centres + quaternion.rotate(rotations, down)


def _stamped(row: JsonDict, options: Uav3dOptions) -> JsonDict:
    return {**row, "timestamp": row["timestamp"] * options.stamp_factor}


def _array(rows: list[Any], column: str, width: int) -> FloatArray:
    return np.array([row[column] for row in rows], dtype=np.float64).reshape(-1, width)
