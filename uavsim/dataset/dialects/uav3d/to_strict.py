"""Conversion of one scene from uav3d to strict: exact for uavsim's tables, approximate for UAV3D's own."""

from typing import Final

import numpy as np

from uavsim.dataset.dialects.uav3d.format import FRAMES, NS_PER_US, column
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.dataset.reader import SceneRows
from uavsim.dataset.rows import EgoPoseRow, SampleRow
from uavsim.dataset.schema import LAYER, SAMPLE, Tables
from uavsim.dataset.tokens import token
from uavsim.dataset.vocabulary import category_token
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.classes import class_of_blueprint, class_of_label
from uavsim.typing import JsonDict

_NS_IF_ABOVE: Final = 10**17  # the year 5138 in microseconds


def strict_scene(scene: SceneRows, *, channel_of_sensor: dict[str, str], name_of_category: dict[str, str]) -> SceneRows:
    """Convert one scene from uav3d to strict.

    Args:
        scene: uav3d rows; with ``strict_*`` tables the conversion is exact.
        channel_of_sensor: sensor token -> channel.
        name_of_category: category token -> blueprint.
    """
    rows = scene.rows
    factor = NS_PER_US if rows["sample"] and rows["sample"][0]["timestamp"] > _NS_IF_ABOVE else 1
    made: Tables = {name: list(table) for name, table in rows.items() if not name.startswith("strict_")}
    made["sample"] = [_sample(row, factor) for row in SAMPLE.of(rows)]
    made["instance"] = [_instance(row, name_of_category) for row in rows["instance"]]
    made["sample_annotation"] = _annotations(rows["sample_annotation"])
    if "strict_ego_pose" in rows:
        images = [_strict_sample_data(row, factor) for row in rows["sample_data"]]
        made["sample_data"] = images + rows["strict_sample_data"]
        made["layer"] = [*LAYER.of(rows), *rows.get("strict_layer", ())]
        made["lidarseg"] = rows.get("strict_lidarseg", [])
        made["ego_pose"] = rows["strict_ego_pose"]
        made["calibrated_sensor"] = rows["strict_calibrated_sensor"]
    else:
        _rebuild_sensors(scene, made, channel_of_sensor, factor=factor)
    return SceneRows(scene=scene.scene, rows=made)


def _sample(row: SampleRow, factor: int) -> SampleRow:
    return {**row, "timestamp": row["timestamp"] // factor}


def _instance(row: JsonDict, name_of_category: dict[str, str]) -> JsonDict:
    made = dict(row)
    strict_token = made.pop("uav_category_token", None)
    if strict_token is None:
        blueprint = name_of_category[row["category_token"]]
        found = class_of_blueprint(blueprint) or class_of_label("car")
        strict_token = category_token(found.category.name)
        made["uav_category"] = blueprint
    made["category_token"] = strict_token
    return made


def _annotations(rows: list[JsonDict]) -> list[JsonDict]:
    if not rows:
        return []
    rotations = FRAMES.rotation_to_map(column(rows, "rotation", 4))
    origins = FRAMES.vector_to_map(column(rows, "translation", 3))
    half_up = np.zeros_like(origins)
    half_up[:, 2] = (
        column(rows, "size", 3)[:, 2] / 2
    )  # without a recorded box offset, the box stands on the actor's origin
    centres = SE3.from_quat_wxyz(rotations, origins).apply(half_up).tolist()
    poses = zip(rows, rotations.tolist(), origins.tolist(), centres, strict=True)
    return [_annotation(row, rotation, origin, centre) for row, rotation, origin, centre in poses]


def _annotation(row: JsonDict, rotation: list[float], origin: list[float], centre: list[float]) -> JsonDict:
    made = dict(row)
    strict_centre, strict_counts = made.pop("uav_box_translation", None), made.pop("uav_num_pts", None)
    made |= {"translation": strict_centre or centre, "size": FRAMES.size_to_wlh(row["size"]), "rotation": rotation}
    if strict_counts is not None:
        made["num_lidar_pts"], made["num_radar_pts"] = strict_counts
    if strict_centre is None:
        made["uav_actor_translation"] = origin
    return made


def _strict_sample_data(row: JsonDict, factor: int) -> JsonDict:
    made = {**row, "timestamp": row["timestamp"] // factor}
    made["ego_pose_token"] = made.pop("uav_ego_pose_token")
    made["calibrated_sensor_token"] = made.pop("uav_calibrated_sensor_token")
    made["filename"] = made.pop("uav_filename")
    return made


def _rebuild_sensors(scene: SceneRows, made: Tables, channel_of_sensor: dict[str, str], *, factor: int) -> None:
    """Make ego poses, calibrations and LIDAR_TOP from global camera poses.

    UAV3D's files lack the drone's attitude: an ego pose has its camera's position and no rotation.
    """
    name = str(scene.scene["name"])
    calibrated = {row["token"]: row for row in scene.rows["calibrated_sensor"]}
    sensors = [calibrated[row["calibrated_sensor_token"]] for row in scene.rows["sample_data"]]
    origins_m = FRAMES.vector_to_map(column(sensors, "translation", 3)).tolist()
    rotations = unreal.optical_from_flu(FRAMES.rotation_to_map(column(sensors, "rotation", 4))).tolist()
    for table in ("sample_data", "ego_pose", "calibrated_sensor"):
        made[table] = []
    for row, sensor, origin_m, rotation in zip(scene.rows["sample_data"], sensors, origins_m, rotations, strict=True):
        stamp, channel = row["timestamp"] // factor, channel_of_sensor[sensor["sensor_token"]]
        suffix = str(row["filename"]).rpartition(".")[2]
        root = "samples" if row["is_key_frame"] else "sweeps"
        made["sample_data"].append(
            {
                **row,
                "timestamp": stamp,
                "ego_pose_token": row["token"],
                "calibrated_sensor_token": row["token"],
                "filename": f"{root}/{channel}/{name}__{channel}__{stamp}.{suffix}",
            }
        )
        made["ego_pose"].append(_pose(row["token"], stamp, origin_m))
        made["calibrated_sensor"].append(
            {**sensor, "token": row["token"], "translation": [0.0, 0.0, 0.0], "rotation": rotation}
        )
    _add_lidar_top(name, made, channel_of_sensor)


def _add_lidar_top(name: str, made: Tables, channel_of_sensor: dict[str, str]) -> None:
    sensor_of = {row["token"]: channel_of_sensor[row["sensor_token"]] for row in made["calibrated_sensor"]}
    position_of = {row["token"]: row["translation"] for row in made["ego_pose"]}
    first: dict[str, list[float]] = {}
    for row in made["sample_data"]:
        if row["is_key_frame"] and sensor_of[row["token"]].endswith("id_0"):
            first[row["sample_token"]] = position_of[row["token"]]
    calibration = token(name, "calibrated_sensor", BEV_CHANNEL)
    samples = [row for row in made["sample"] if row["token"] in first]
    tokens = [token(name, "sample_data", BEV_CHANNEL, row["timestamp"]) for row in samples]
    for row, own_token, before, after in zip(samples, tokens, ["", *tokens[:-1]], [*tokens[1:], ""], strict=True):
        made["sample_data"].append(
            {
                "token": own_token,
                "sample_token": row["token"],
                "ego_pose_token": own_token,
                "calibrated_sensor_token": calibration,
                "timestamp": row["timestamp"],
                "fileformat": "pcd",
                "is_key_frame": True,
                "height": 0,
                "width": 0,
                "filename": f"samples/{BEV_CHANNEL}/{name}__{BEV_CHANNEL}__{row['timestamp']}.pcd.bin",
                "prev": before,
                "next": after,
            }
        )
        made["ego_pose"].append(_pose(own_token, row["timestamp"], [*first[row["token"]][:2], 0.0]))
    made["calibrated_sensor"].append(
        {
            "token": calibration,
            "sensor_token": token("sensor", BEV_CHANNEL),
            "translation": [0.0, 0.0, 0.0],
            "rotation": [1.0, 0.0, 0.0, 0.0],
            "camera_intrinsic": [],
        }
    )


def _pose(data_token: str, stamp: int, position_m: list[float]) -> EgoPoseRow:
    return {"token": data_token, "timestamp": stamp, "rotation": [1.0, 0.0, 0.0, 0.0], "translation": position_m}
