"""Griffin's raw layout: one car and one drone in the same traffic, each in its own frame.

``<split>/griffin-release/{vehicle-side,drone-side}`` hold ``calib/<sensor>.json`` (4x4 to the agent, 3x3 to pixels),
``camera/<sensor>/<frame>.png``, ``lidar/lidar_top/<frame>.ply`` of the car, ``label/<frame>.txt`` (type, centre, length,
width, height, roll, pitch, yaw in degrees, id, visible share; the agent's flu frame), ``pose/<frame>.json`` in the map frame,
and ``scene_infos.json``. A frame's number is its time in tenths of a second, counted through all scenes. Ids count through all
scenes, too: an object's number in the instance masks is its id modulo 65536. Each side labels the objects it sees.

With ``received``, ``drone-side`` holds the newest images that the car has received, with the drone's pose at their exposure.
Labels show the frame's own time, in the coordinate frame of that pose, as in Griffin's delayed infos. Frames without an image
are left out.
Source: Griffin, Dataset_Preparation.md and griffin_data_converter/data_utils.py; py123d, parser/griffin.
"""

from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Image, LidarScan, Sample
from uavsim.access.boxes import mask_ids
from uavsim.errors import InputError
from uavsim.exports.formats.point_clouds import ply_bytes
from uavsim.exports.formats.request import (
    ExportRequest,
    by_drone,
    exporter,
    lidar_of,
    receive,
    refuse_clockless,
    write_as_png,
)
from uavsim.exports.formats.text import write_json, write_text
from uavsim.files.bring import bring_file
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray, JsonDict

_PERIOD_US: Final = 100_000
_BETWEEN_SCENES: Final = 10  # frames
_IDS_OF_SCENE: Final = 1 << 16  # the range of masks; Griffin's converter joins objects of equal ids across scenes
_DRONE: Final = 0
_CAR: Final = 1000
"""The agents' numbers in ``records.channels``: drone 0 and vehicle v0."""
_CAMERAS: Final = {_CAR: ("FRONT", "BACK", "LEFT", "RIGHT"), _DRONE: ("FRONT", "BACK", "LEFT", "RIGHT", "BOTTOM")}
_SIDES: Final = {_CAR: "vehicle-side", _DRONE: "drone-side"}
_TYPES: Final = {
    "human.pedestrian": "pedestrian",
    "vehicle.car": "car",
    "vehicle.truck": "truck",
    "vehicle.bus": "bus",
    "vehicle.motorcycle": "motorcycle",
    "vehicle.bicycle": "bicycle",
}


@exporter
def export_griffin(request: ExportRequest) -> list[Path]:
    """Write the sides of vehicle v0 and drone 0; images that are PNG are hard-linked.

    Raises:
        DatasetError: a file is missing.
        InputError: an agent or a camera is missing, or a sample is not at a tenth of a second; as received, an
            agent has no clock or the car never has the drone's images.
    """
    for scene in request.open_labelled().scenes(request.split):  # refuse before anything is written
        agents = by_drone(scene.samples[0])
        for agent in _SIDES:
            _cameras(scene.samples[0], agent, agents.get(agent, []))
        if request.received:
            refuse_clockless(scene)
    folder = ResultPath.open(request.out) / request.split_name / "griffin-release"
    first, scenes = 0, []
    for number, scene in enumerate(request.open_labelled().scenes(request.split)):
        frames = []
        for sample in scene.samples:
            frame, agents = f"{first + _tenths(sample, scene.samples[0]):06d}", by_drone(sample)
            captured = {agent: _cameras(sample, agent, agents.get(agent, [])) for agent in _SIDES}
            images = receive(scene, sample, captured, ego=_CAR) if request.received else captured
            if images.keys() != captured.keys():
                continue
            frames.append(frame)
            for agent, side in _SIDES.items():
                scan = None if request.received and agent != _CAR else lidar_of(sample, agent)  # lidars have no clock
                map_SE3_flu = images[agent][0].map_SE3_flu
                lines = _labels(sample, captured[agent], map_SE3_flu, first_id=number * _IDS_OF_SCENE)
                _write_frame(folder / side, frame, images[agent], lines, scan)
        first += _tenths(scene.samples[-1], scene.samples[0]) + _BETWEEN_SCENES
        info = {"frames": frames, "weather": scene.description}
        if frames:
            scenes.append({"name": f"{scene.town}-{number:03d}", "info": info})
    if not scenes:
        raise InputError("nothing was written: vehicle v0 never has images of drone 0")
    for side in _SIDES.values():
        write_json(folder / side / "scene_infos.json", scenes)
    return [folder.display_path]


def _tenths(sample: Sample, first: Sample) -> int:
    tenths, rest_us = divmod(sample.timestamp_us - first.timestamp_us, _PERIOD_US)
    if rest_us:
        raise InputError(
            f"{sample.scene_name}: sample {sample.number} is not at a multiple of 0.1 s, as Griffin requires; "
            "generate the dataset with keyframe_s: 0.1"
        )
    return tenths


def _cameras(sample: Sample, agent: int, images: list[Image]) -> list[Image]:
    """Return an agent's images in Griffin's order.

    Raises:
        InputError: the agent or one of its cameras is missing.
    """
    named = {image.camera: image for image in images}
    missing = [name for name in _CAMERAS[agent] if name not in named]
    if missing:
        who, rig = ("vehicle v0", "griffin_car") if agent == _CAR else ("drone 0", "uav3d")
        if not images and agent == _CAR:
            raise InputError(
                f"{sample.scene_name}: no vehicle has sensors, which Griffin requires; add "
                f"vehicles: {{count: 1, rig: {rig}}}"
            )
        raise InputError(
            f"{sample.scene_name}: {who} has no camera {missing[0]}, which Griffin requires; a rig like {rig} has it"
        )
    return [named[name] for name in _CAMERAS[agent]]


def _write_frame(side: ResultPath, frame: str, images: list[Image], labels: list[str], scan: LidarScan | None) -> None:
    write_text(side / "label" / f"{frame}.txt", "".join(f"{line}\n" for line in labels))
    write_json(side / "pose" / f"{frame}.json", _pose(images[0].map_SE3_flu))
    for image in images:
        name = image.camera.lower()
        write_as_png(side / "camera" / name / f"{frame}.png", image)
        if "instance" in image.layers:
            target = side / "camera" / f"instance_{name}" / f"{frame}.png"
            bring_file(image.files.open(image.layers["instance"]), target)
        _write_calibration(side / "calib" / f"{name}.json", image.flu_SE3_optical, image.pinhole)
    if scan is not None:
        _write_calibration(side / "calib" / "lidar_top.json", scan.flu_SE3_sensor, None)
        write_whole(side / "lidar" / "lidar_top" / f"{frame}.ply", _ply(scan))
    else:
        _write_calibration(side / "calib" / "lidar_virtual.json", SE3.identity(), None)


def _write_calibration(target: ResultPath, flu_SE3_sensor: SE3, intrinsic: FloatArray | None) -> None:
    if not target.exists():
        pixels = {} if intrinsic is None else {"intrinsic": intrinsic.tolist()}
        write_json(target, {"extrinsic": flu_SE3_sensor.matrix.tolist(), **pixels})


def _pose(map_SE3_flu: SE3) -> JsonDict:
    values = (*map_SE3_flu.translation_m.tolist(), *_flu_euler_deg(map_SE3_flu.quat_wxyz).tolist())
    return dict(zip(("x", "y", "z", "roll", "pitch", "yaw"), values, strict=True))


def _flu_euler_deg(quat_wxyz: FloatArray) -> FloatArray:
    """Return (..., 3) roll, pitch and yaw in degrees of (..., 4) rotations: Rz(yaw) Ry(pitch) Rx(roll)."""
    m = quaternion.to_matrix(quat_wxyz)
    level = np.hypot(m[..., 0, 0], m[..., 1, 0])
    roll = np.arctan2(m[..., 2, 1], m[..., 2, 2])
    yaw = np.arctan2(m[..., 1, 0], m[..., 0, 0])
    return np.asarray(np.degrees(np.stack([roll, np.arctan2(-m[..., 2, 0], level), yaw], axis=-1)))


def _labels(sample: Sample, images: list[Image], map_SE3_flu: SE3, *, first_id: int) -> list[str]:
    """Return label lines of the objects that some images of a sample show, in the frame of a pose."""
    boxes, tokens = sample.boxes, {image.token for image in images}
    flu_SE3_box = map_SE3_flu.inverse() @ boxes.map_SE3_box
    numbers = np.concatenate(
        [flu_SE3_box.translation_m, boxes.size_lwh_m, _flu_euler_deg(flu_SE3_box.quat_wxyz)], axis=1
    )
    lines = []
    for category, row, instance_id, views in zip(
        boxes.categories, numbers, mask_ids(boxes).tolist(), boxes.views, strict=True
    ):
        name = next((word for start, word in _TYPES.items() if category.startswith(start)), None)
        own_views = [view for view in views if view["sample_data_token"] in tokens]
        visible_px, amodal_px = (sum(view[key] for view in own_views) for key in ("visible_px", "amodal_px"))
        if name is not None and visible_px:
            share = visible_px / max(amodal_px, 1)
            lines.append(f"{name} {' '.join(f'{v:.6f}' for v in row)} {first_id + instance_id} {share:.4f}")
    return lines


def _ply(scan: LidarScan) -> bytes:
    """Return a PLY file of a lidar scan in the agent's flu frame, metres, with intensity ``I``."""
    points = scan.points()
    flu_m = scan.flu_SE3_sensor.apply(points[:, :3].astype(np.float64))
    columns = np.column_stack([flu_m, points[:, 3]]).astype("<f4").T
    return ply_bytes(dict(zip(("x", "y", "z", "I"), columns, strict=True)))
