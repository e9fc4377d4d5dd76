"""OpenCOOD's OPV2V layout: ``<split>/<scene>/<agent>/<frame>.yaml``, ``.pcd`` and ``_camera<N>.png``.

Axes are the simulator's left-handed ones, metres and degrees; poses are ``[x, y, z, roll, yaw, pitch]``, extents half sizes,
speeds km/h. Drone 0 is the ego (first by name); vehicle ``v0`` is 1000, roadside unit ``r0`` is -1 as in V2XSet, and ``r1`` is
2001. Camera numbers follow the rig's order; OpenCOOD's loader reads the first four. Points come from the agent's lidar, else
from its depth cameras in its body frame, else the cloud is empty.

With ``received``, a frame holds the newest images that the ego has received from other agents, with their poses, and the
vehicles of the frame's own time. Frames in which the ego lacks an agent's images are left out.
Source: OpenCOOD ``opencood/data_utils/datasets/basedataset.py``, ``opencood/utils/box_utils.py``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Boxes, Image, Sample
from uavsim.access.boxes import mask_ids
from uavsim.errors import InputError
from uavsim.exports.formats.carla_axes import pcd, points_of_depth, points_of_lidar, pose, pose_of_camera, ue_transform
from uavsim.exports.formats.request import (
    ExportRequest,
    by_drone,
    exporter,
    instances_of_agents,
    lidar_of,
    receive,
    refuse_clockless,
)
from uavsim.exports.formats.text import to_yaml, write_text
from uavsim.files.bring import bring_file
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry import unreal

_KMH_PER_MPS = 3.6
_EGO: Final = 0
_FURTHER_UNITS: Final = 2000


@exporter
def export_opv2v(request: ExportRequest) -> list[Path]:
    """Write one folder for each scene and agent; images are hard-linked.

    Raises:
        DatasetError: an image is missing.
        InputError: with ``received``, an agent has no clock or the ego never has images of all agents.
    """
    folder, written = ResultPath.open(request.out) / request.split_name, 0
    for scene in request.open_labelled().scenes(request.split):
        if request.received:
            refuse_clockless(scene)
        own_token = instances_of_agents(scene)
        for sample in scene:
            images = by_drone(sample)
            received = receive(scene, sample, images, ego=_EGO) if request.received else images
            if received.keys() == images.keys():
                _write_sample(folder, sample, received, own_token, received=request.received)
                written += 1
    if request.received and not written:
        raise InputError("nothing was written: drone 0 never has images of all other agents")
    return [folder.display_path]


def _write_sample(
    folder: ResultPath,
    sample: Sample,
    by_agent: Mapping[int, list[Image]],
    own_token: Mapping[int, str],
    *,
    received: bool,
) -> None:
    """Write a sample of all agents; an agent's file leaves out its own box."""
    vehicles, tokens = _vehicles(sample.boxes), sample.boxes.instance_tokens
    for drone_id, images in by_agent.items():
        others = {k: v for (k, v), t in zip(vehicles.items(), tokens, strict=True) if t != own_token.get(drone_id)}
        agent_folder = folder / sample.scene_name / _folder_name(drone_id)
        name = f"{sample.number:06d}"
        write_text(agent_folder / f"{name}.yaml", to_yaml({**_drone(images), "vehicles": others}))
        scan = None if received and drone_id != _EGO else lidar_of(sample, drone_id)  # lidars have no clock
        points_m = points_of_depth(images) if scan is None else points_of_lidar(scan)
        write_whole(agent_folder / f"{name}.pcd", pcd(points_m))
        for number, image in enumerate(images):
            suffix = Path(image.filename).suffix
            bring_file(image.files.open(image.filename), agent_folder / f"{name}_camera{number}{suffix}")


def _folder_name(number: int) -> str:
    """Return an agent's folder name; only the first roadside unit has a negative one.

    OpenCOOD sorts the names and moves one negative name to the end; a second one would become the ego.
    """
    return str(number if number >= -1 else _FURTHER_UNITS - 1 - number)


def _drone(images: list[Image]) -> dict[str, Any]:
    first = images[0]
    own_pose = pose(first.map_SE3_flu)
    drone_from_world = np.linalg.inv(ue_transform(first.map_SE3_flu))
    content: dict[str, Any] = {
        "lidar_pose": own_pose,
        "true_ego_pos": own_pose,
        "predicted_ego_pos": own_pose,
        "ego_speed": float(np.linalg.norm(np.nan_to_num(first.drone_velocity_map_mps))) * _KMH_PER_MPS,
        "plan_trajectory": [],
    }
    for number, image in enumerate(images):
        camera_pose, world_from_camera = pose_of_camera(image)
        content[f"camera{number}"] = {
            "cords": camera_pose,
            "extrinsic": (drone_from_world @ world_from_camera).tolist(),
            "intrinsic": image.pinhole.tolist(),
        }
    return content


def _vehicles(boxes: Boxes) -> dict[int, Any]:
    """Return all boxes by number; the box centre is ``location + center`` without rotation, as OpenCOOD adds them."""
    euler_deg = unreal.ue_euler_from_map_q_flu(boxes.map_SE3_box.quat_wxyz)
    centre = unreal.ue_vector_from_map(boxes.map_SE3_box.translation_m)
    origin = unreal.ue_vector_from_map(boxes.actor_map_m)
    speed = np.nan_to_num(np.linalg.norm(boxes.velocity_map_mps, axis=1)) * _KMH_PER_MPS
    return {
        instance_id: {
            "location": origin[n].tolist(),
            "center": (centre[n] - origin[n]).tolist(),
            "extent": (boxes.size_lwh_m[n] / 2).tolist(),
            "angle": [float(euler_deg[n, 0]), float(euler_deg[n, 2]), float(euler_deg[n, 1])],
            "speed": float(speed[n]),
            "obj_type": boxes.categories[n],
        }
        for n, instance_id in enumerate(mask_ids(boxes).tolist())
    }
