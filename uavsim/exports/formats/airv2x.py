"""AirV2X's layout: ``<split>/<scene>/timestamp_<n>/agent_<n>/``.

An agent has ``metadata.pkl``, cameras, depth, ``lidar.pcd`` and bird's-eye layers. ``objects.pkl`` beside the agents holds all
boxes, including sensing vehicles (``object_id`` of their metadata). Axes are CARLA's, metres and degrees. AirV2X's
reader adds a sensor's pose to its agent's pose component by component; ``lidar_pose`` and ``cords`` are these differences.
``extrinsic`` transforms points from the lidar to the camera. Drones are agents from 0 on, vehicles from 1000, roadside units
from 2000. A drone without a lidar has points from its depth image, in its body frame. Depth is CARLA's 24-bit code of
1000 m, red is the low byte.
Source: AirV2X-Perception ``opencood/utils/airv2x_utils.py``, ``opencood/data_utils/datasets/airv2x/basedataset.py``;
SkyLink-V2X ``data_logger/utils.py``, ``object_configs/sample.yaml``.
"""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Dataset, Image, LidarScan, Sample, Scene
from uavsim.access.boxes import mask_ids
from uavsim.dataset.schema import INSTANCE
from uavsim.environment import replay_command
from uavsim.errors import InputError
from uavsim.exports.formats.airv2x_bev import LAYERS, BevGround, BirdsEye
from uavsim.exports.formats.carla_axes import pcd, points_of_depth, pose, pose_of_camera, ue_transform
from uavsim.exports.formats.request import (
    ExportRequest,
    by_drone,
    exporter,
    instances_of_agents,
    lidar_of,
    write_as_png,
)
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry import unreal
from uavsim.images import codec
from uavsim.records.channels import agent_id, agent_of
from uavsim.typing import FloatArray, UInt8Array

_FURTHER_UNITS: Final = 2000
_LARGEST_CODE: Final = (1 << 24) - 1
_LARGEST_DEPTH_M: Final = 1000.0
_CLASSES: Final = {"pedestrian": 0, "bicycle": 1, "motorcycle": 2, "car": 3, "van": 4, "truck": 5, "bus": 6}
_OTHER: Final = 7
"""AirV2X's class numbers; its reader keeps 1 to 6."""
_KINDS: Final = {
    "vehicle": (
        "vehicle",
        {
            "FRONT": "front",
            "FRONT_LEFT": "front_left",
            "FRONT_RIGHT": "front_right",
            "BACK": "rear",
            "BACK_LEFT": "rear_left",
            "BACK_RIGHT": "rear_right",
        },
    ),
    "roadside": ("rsu", {"BACK": "back", "FRONT": "front", "LEFT": "left", "RIGHT": "right"}),
    "drone": ("drone", {"BOTTOM": "bev"}),
}
"""Agent kind -> AirV2X's name of the kind, and the cameras that its reader requires."""
_RIGS: Final = {"vehicle": "airv2x_car", "roadside": "airv2x_roadside", "drone": "airv2x_drone"}


@exporter
def export_airv2x(request: ExportRequest) -> list[Path]:
    """Write one folder for each scene, sample and agent; PNG images are hard-linked.

    Raises:
        DatasetError: a file is missing.
        InputError: an agent lacks a camera that AirV2X requires, or depth images.
    """
    data = request.open_labelled()
    for scene in data.scenes(request.split):  # refuse before anything is written
        for images in by_drone(scene.samples[0]).values():
            _cameras(scene.samples[0], images)
    folder = ResultPath.open(request.out) / request.split_name
    for scene in data.scenes(request.split):
        _write_scene(folder / scene.name, scene, data)
    return [folder.display_path]


def _write_scene(folder: ResultPath, scene: Scene, data: Dataset) -> None:
    classes = {row["token"]: _CLASSES.get(str(row.get("uav_label")), _OTHER) for row in scene.rows(INSTANCE)}
    own_token = instances_of_agents(scene)
    ground = BevGround.of(data, scene.town)
    for sample in scene:
        sample_folder = folder / f"timestamp_{sample.number:06d}"
        labels = np.array([classes[token] for token in sample.boxes.instance_tokens], dtype=np.int64)
        numbers = mask_ids(sample.boxes).tolist()
        write_whole(sample_folder / "objects.pkl", _pickled(_objects(sample, labels.tolist(), numbers)))
        for agent, images in by_drone(sample).items():
            agent_folder = sample_folder / f"agent_{_number(agent):06d}"
            scan = lidar_of(sample, agent)
            cameras = _cameras(sample, images)
            object_ids = dict(zip(sample.boxes.instance_tokens, numbers, strict=True))
            object_id = {"object_id": object_ids[token]} if (token := own_token.get(agent)) in object_ids else {}
            write_whole(agent_folder / "metadata.pkl", _pickled({**_metadata(images[0], cameras, scan), **object_id}))
            _write_images(agent_folder, cameras)
            points_m = points_of_depth(cameras.values()) if scan is None else _lidar_points(scan)
            write_whole(agent_folder / "lidar.pcd", pcd(points_m))
            _write_layers(agent_folder, BirdsEye(images[0].map_SE3_flu), sample, labels, ground)


def _number(agent: int) -> int:
    return agent if agent >= 0 else _FURTHER_UNITS - 1 - agent


def _cameras(sample: Sample, images: list[Image]) -> dict[str, Image]:
    """Return an agent's images by AirV2X's names of cameras.

    Raises:
        InputError: AirV2X has no such agents, or a camera or its depth image is missing.
    """
    kind, _ = agent_of(images[0].channel)
    if kind not in _KINDS:
        raise InputError(f"{sample.scene_name}: AirV2X has no agents of kind {kind}, only {', '.join(_KINDS)}")
    by_name = {image.camera: image for image in images}
    required = _KINDS[kind][1]
    agent = agent_id(images[0].channel)
    for name in required:
        if name not in by_name:
            raise InputError(
                f"{sample.scene_name}: {kind} {agent} has no camera {name}, needed by AirV2X; a rig like {_RIGS[kind]} has it"
            )
        if "depth" not in by_name[name].layers:
            raise InputError(
                f"{sample.scene_name}: {by_name[name].channel} has no depth images, which AirV2X requires: "
                f"use the rig {_RIGS[kind]}, or {replay_command(by_name[name].files.root, 'depth')}"
            )
    return {airv2x_name: by_name[name] for name, airv2x_name in required.items()}


def _metadata(body: Image, cameras: Mapping[str, Image], scan: LidarScan | None) -> dict[str, Any]:
    kind, _ = agent_of(body.channel)
    agent_pose = np.array(pose(body.map_SE3_flu))
    map_SE3_lidar = body.map_SE3_flu if scan is None else scan.map_SE3_sensor
    speed_mps = float(np.linalg.norm(np.nan_to_num(body.drone_velocity_map_mps)))
    content: dict[str, Any] = {
        "agent_type": _KINDS[kind][0],
        "odometry": {"ego_pos": agent_pose.tolist(), "ego_speed": speed_mps},
        "lidar": {"lidar_pose": (pose(map_SE3_lidar) - agent_pose).tolist()},
    }
    for name, image in cameras.items():
        camera_pose, world_from_camera = pose_of_camera(image)
        content[f"{name}_camera"] = {
            "cords": (camera_pose - agent_pose).tolist(),
            "intrinsic": image.pinhole.tolist(),
            "extrinsic": (np.linalg.inv(world_from_camera) @ ue_transform(map_SE3_lidar)).tolist(),
        }
    return content


def _write_images(agent_folder: ResultPath, cameras: Mapping[str, Image]) -> None:
    for name, image in cameras.items():
        write_as_png(agent_folder / f"{name}_camera.png", image)
        write_whole(agent_folder / f"{name}_depth.png", codec.encode_png(_carla_depth(image)))


def _carla_depth(image: Image) -> UInt8Array:
    """Return (H, W, 3) uint8 depth in CARLA's 24-bit code; depths beyond 1 km are 1 km."""
    share = np.clip(image.depth_m().astype(np.float64) / _LARGEST_DEPTH_M, 0.0, 1.0)
    value = np.rint(share * _LARGEST_CODE).astype(np.uint32)
    return np.stack([(value >> shift) & 255 for shift in (0, 8, 16)], axis=-1).astype(np.uint8)


def _lidar_points(scan: LidarScan) -> FloatArray:
    """Return (N, 3) points in the lidar's left-handed frame, metres."""
    return unreal.ue_vector_from_map(scan.points()[:, :3].astype(np.float64))


def _objects(sample: Sample, labels: list[int], numbers: list[int]) -> dict[int, Any]:
    """Return all boxes by number; the box centre is ``location + center`` without rotation, as the reader adds them."""
    boxes = sample.boxes
    roll, pitch, yaw = unreal.ue_euler_from_map_q_flu(boxes.map_SE3_box.quat_wxyz).reshape(-1, 3).T.tolist()
    centre = unreal.ue_vector_from_map(boxes.map_SE3_box.translation_m)
    origin = unreal.ue_vector_from_map(boxes.actor_map_m)
    speed = np.nan_to_num(np.linalg.norm(boxes.velocity_map_mps, axis=1))
    return {
        number: {
            "class": labels[n],
            "location": [*origin[n].tolist(), roll[n], yaw[n], pitch[n]],
            "center": (centre[n] - origin[n]).tolist(),
            "extent": (boxes.size_lwh_m[n] / 2).tolist(),
            "speed": float(speed[n]),
        }
        for n, number in enumerate(numbers)
    }


def _write_layers(agent_folder: ResultPath, view: BirdsEye, sample: Sample, labels: Any, ground: BevGround) -> None:
    for name, layer in view.static(ground).items():
        write_whole(agent_folder / f"map_static_{name}.png", codec.encode_png(layer))
    for number in range(LAYERS):
        layer = view.boxes(sample.boxes.pick(labels == number))
        write_whole(agent_folder / f"map_dynamic_bev_layer_{number}.png", codec.encode_png(layer))


def _pickled(content: dict[Any, Any]) -> bytes:
    return pickle.dumps(content, protocol=4)
