"""AirV2X's layout: ``<split>/<scene>/timestamp_<n>/agent_<n>/``.

An agent has ``metadata.pkl``, cameras, depth, ``lidar.pcd`` and layers seen from above. ``objects.pkl`` beside the agents is
all agents': it holds all boxes, those of sensing vehicles too (``object_id`` of their metadata). Axes are CARLA's, metres and
degrees. AirV2X's reader adds a sensor's pose to its agent's number by number, without turning it, so that is what
``lidar_pose`` and ``cords`` are. ``extrinsic`` takes points of the lidar to the camera. Drones are agents 0 and on, vehicles
1000 and on, roadside units 2000 and on; a drone without a lidar has the points that its depth image shows, in its own frame.
Depth is CARLA's: red is the low byte of 24 bits, which are 1000 m.
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
from uavsim.dataset.schema import AGENT, INSTANCE
from uavsim.environment import replay_command
from uavsim.errors import InputError
from uavsim.exports.formats.airv2x_bev import LAYERS, BevGround, BirdsEye
from uavsim.exports.formats.carla_axes import pcd, points_of_depth, pose, pose_of_camera, ue_transform
from uavsim.exports.formats.request import ExportRequest, by_drone, exporter, lidar_of
from uavsim.exports.formats.text import write_bytes
from uavsim.files.bring import bring_file
from uavsim.files.results import ResultPath
from uavsim.geometry import unreal
from uavsim.images import codec
from uavsim.records.channels import agent_of, split_channel
from uavsim.typing import UInt8Array

_FURTHER_UNITS: Final = 2000
_FULL_DEPTH: Final = (1 << 24) - 1
_FULL_DEPTH_M: Final = 1000.0
_CLASSES: Final = {"pedestrian": 0, "bicycle": 1, "motorcycle": 2, "car": 3, "van": 4, "truck": 5, "bus": 6}
_OTHER: Final = 7
"""AirV2X's numbers; its reader keeps 1 to 6."""
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
"""AirV2X's word for a kind of agent, and the cameras that its reader wants of it."""
_RIGS: Final = {"vehicle": "airv2x_car", "roadside": "airv2x_roadside", "drone": "airv2x_drone"}


@exporter
def export_airv2x(request: ExportRequest) -> list[Path]:
    """Write one folder a scene, instant and agent; images that are PNG are hard-linked.

    Raises:
        DatasetError: a file is missing.
        InputError: an agent lacks a camera that AirV2X has, or there is no depth.
    """
    data = request.open_labelled()
    for scene in data.scenes(request.split):  # before anything is written
        for images in by_drone(scene.samples[0]).values():
            _cameras(scene.samples[0], images)
    folder = ResultPath.open(request.out) / request.split_name
    for scene in data.scenes(request.split):
        _write_scene(folder / scene.name, scene, data)
    return [folder.shown]


def _write_scene(folder: ResultPath, scene: Scene, data: Dataset) -> None:
    classes = {row["token"]: _CLASSES.get(str(row.get("uav_label")), _OTHER) for row in scene.rows(INSTANCE)}
    own_token = {split_channel(f"SENSOR_id_{row['id']}")[1]: row["instance_token"] for row in scene.rows(AGENT)}
    ground = BevGround.of(data, scene.town)
    for sample in scene:
        now = folder / f"timestamp_{sample.number:06d}"
        labels = np.array([classes[token] for token in sample.boxes.instance_tokens], dtype=np.int64)
        numbers = mask_ids(sample.boxes).tolist()
        write_bytes(now / "objects.pkl", _pickled(_objects(sample, labels.tolist(), numbers)))
        for agent, images in by_drone(sample).items():
            own = now / f"agent_{_number(agent):06d}"
            scan = lidar_of(sample, agent)
            cameras = _cameras(sample, images)
            named = dict(zip(sample.boxes.instance_tokens, numbers, strict=True))
            known = {"object_id": named[token]} if (token := own_token.get(agent)) in named else {}
            write_bytes(own / "metadata.pkl", _pickled({**_metadata(images[0], cameras, scan), **known}))
            _write_images(own, cameras)
            points_m = points_of_depth(cameras.values()) if scan is None else _own_points(scan)
            write_bytes(own / "lidar.pcd", pcd(points_m))
            _write_layers(own, BirdsEye(images[0].map_SE3_flu), sample, labels, ground)


def _number(agent: int) -> int:
    return agent if agent >= 0 else _FURTHER_UNITS - 1 - agent


def _cameras(sample: Sample, images: list[Image]) -> dict[str, Image]:
    """Return an agent's images by AirV2X's names."""
    kind, _ = agent_of(images[0].channel)
    named = {image.camera: image for image in images}
    wanted = _KINDS[kind][1]
    who = images[0].channel.rpartition("_id_")[2]
    for name in wanted:
        if name not in named:
            raise InputError(
                f"{sample.scene_name}: {kind} {who} has no camera {name}, which AirV2X has; a rig like {_RIGS[kind]} has it"
            )
        if "depth" not in named[name].layers:
            raise InputError(
                f"{sample.scene_name}: {named[name].channel} has no depth images, without which AirV2X's reader stops: "
                f"use the rig {_RIGS[kind]}, or {replay_command(named[name].files.root, 'depth')}"
            )
    return {theirs: named[name] for name, theirs in wanted.items()}


def _metadata(body: Image, cameras: Mapping[str, Image], scan: LidarScan | None) -> dict[str, Any]:
    kind, _ = agent_of(body.channel)
    own = np.array(pose(body.map_SE3_flu))
    map_SE3_lidar = body.map_SE3_flu if scan is None else scan.map_SE3_sensor
    speed_mps = float(np.linalg.norm(np.nan_to_num(body.drone_velocity_map_mps)))
    content: dict[str, Any] = {
        "agent_type": _KINDS[kind][0],
        "odometry": {"ego_pos": own.tolist(), "ego_speed": speed_mps},
        "lidar": {"lidar_pose": (pose(map_SE3_lidar) - own).tolist()},
    }
    for name, image in cameras.items():
        camera_pose, world_from_camera = pose_of_camera(image)
        content[f"{name}_camera"] = {
            "cords": (camera_pose - own).tolist(),
            "intrinsic": image.pinhole.tolist(),
            "extrinsic": (np.linalg.inv(world_from_camera) @ ue_transform(map_SE3_lidar)).tolist(),
        }
    return content


def _write_images(own: ResultPath, cameras: Mapping[str, Image]) -> None:
    for name, image in cameras.items():
        target = own / f"{name}_camera.png"
        if image.filename.endswith(".png"):
            bring_file(image.files.open(image.filename), target)
        else:
            write_bytes(target, codec.encode_png(image.pixels()))
        write_bytes(own / f"{name}_depth.png", codec.encode_png(_coded(image)))


def _coded(image: Image) -> UInt8Array:
    """Return (H, W, 3) of a depth image as CARLA codes it; what is farther than 1 km is there."""
    share = np.clip(image.depth_m().astype(np.float64) / _FULL_DEPTH_M, 0.0, 1.0)
    value = np.rint(share * _FULL_DEPTH).astype(np.uint32)
    return np.stack([(value >> shift) & 255 for shift in (0, 8, 16)], axis=-1).astype(np.uint8)


def _own_points(scan: LidarScan) -> Any:
    """Return (N, 3) points of a lidar in its own left-handed frame."""
    return unreal.ue_vector_from_map(scan.points()[:, :3].astype(np.float64))


def _objects(sample: Sample, labels: list[int], numbers: list[int]) -> dict[int, Any]:
    """Return every box; ``location + center`` is the box's centre, added unturned as the reader does."""
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


def _write_layers(own: ResultPath, view: BirdsEye, sample: Sample, labels: Any, ground: BevGround) -> None:
    for name, layer in view.static(ground).items():
        write_bytes(own / f"map_static_{name}.png", codec.encode_png(layer))
    for number in range(LAYERS):
        layer = view.boxes(sample.boxes.pick(labels == number))
        write_bytes(own / f"map_dynamic_bev_layer_{number}.png", codec.encode_png(layer))


def _pickled(content: dict[Any, Any]) -> bytes:
    return pickle.dumps(content, protocol=4)
