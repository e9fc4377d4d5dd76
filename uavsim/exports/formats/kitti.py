"""KITTI in Griffin's manner: boxes with all three angles in each drone's own frame.

KITTI's own ``label_2`` knows one angle about the camera's vertical and is wrong for cameras that look down. Griffin therefore
writes boxes in the drone's flu frame: ``type x y z l w h roll pitch yaw id visibility`` (metres, degrees; the box centre; roll
positive lifts the left side, pitch positive lowers the nose, yaw counter-clockwise). Layout::

    <split>/drone_<id>/label/<scene>_<frame>.txt       camera/<CAMERA>/<scene>_<frame>.png      pose/<scene>_<frame>.json
    <split>/drone_<id>/calib/<CAMERA>.json             visibility: share of the object that this drone's cameras see, 0..1
    <split>/drone_<id>/dont_care/<CAMERA>/<scene>_<frame>.txt   regions of road users without a box; only where there are any

A line of ``dont_care`` is KITTI's own ``DontCare`` of ``label_2``, which has a box in the image and nothing else.
"""

from pathlib import Path

import numpy as np

from uavsim.access import Image, Sample
from uavsim.access.boxes import mask_ids
from uavsim.escape import word
from uavsim.exports.formats.request import ExportRequest, by_drone, exporter
from uavsim.exports.formats.text import write_json, write_text
from uavsim.files.bring import bring_file
from uavsim.files.results import ResultPath
from uavsim.geometry import quaternion
from uavsim.typing import FloatArray, JsonDict


@exporter
def export_kitti(request: ExportRequest) -> list[Path]:
    """Write one folder a drone; images are hard-linked.

    Raises:
        DatasetError: an image is missing.
    """
    folder = ResultPath.open(request.out) / request.split_name
    for sample in request.open_labelled().samples(request.split):
        name = f"{sample.scene_name}_{sample.number:06d}"
        for drone_id, images in by_drone(sample).items():
            own = folder / f"drone_{drone_id}"
            write_text(own / "label" / f"{name}.txt", "".join(f"{line}\n" for line in _labels(sample, images)))
            write_json(own / "pose" / f"{name}.json", _pose(sample, images[0]))
            for image in images:
                target = f"camera/{image.camera}/{name}{Path(image.filename).suffix}"
                bring_file(image.files.open(image.filename), own / target)
                if len(image.ignored_px):
                    write_text(own / "dont_care" / image.camera / f"{name}.txt", _dont_care(image))
                calibration = own / "calib" / f"{image.camera}.json"
                if not calibration.exists():
                    write_json(calibration, _calibration(image))
    return [folder.shown]


def flu_euler_deg(flu_q_box_wxyz: FloatArray) -> FloatArray:
    """Return (N, 3) roll, pitch, yaw in degrees of (N, 4) rotations in a flu frame: Rz(yaw) Ry(pitch) Rx(roll)."""
    m = quaternion.to_matrix(flu_q_box_wxyz)
    level = np.hypot(m[..., 0, 0], m[..., 1, 0])
    roll = np.arctan2(m[..., 2, 1], m[..., 2, 2])
    yaw = np.arctan2(m[..., 1, 0], m[..., 0, 0])
    return np.asarray(np.degrees(np.stack([roll, np.arctan2(-m[..., 2, 0], level), yaw], axis=-1)))


def _labels(sample: Sample, images: list[Image]) -> list[str]:
    drone, boxes = images[0], sample.boxes
    place_m = drone.map_SE3_flu.apply_inverse(boxes.map_SE3_box.translation_m)
    flu_SE3_box = drone.map_SE3_flu.inverse() @ boxes.map_SE3_box
    euler_deg = flu_euler_deg(flu_SE3_box.quat_wxyz)
    own = {image.token for image in images}
    lines = []
    numbers = np.concatenate([place_m, boxes.size_lwh_m, euler_deg], axis=1)
    for name, row, instance_id, views in zip(
        boxes.categories, numbers, mask_ids(boxes).tolist(), boxes.views, strict=True
    ):
        seen = [view for view in views if view["sample_data_token"] in own]
        whole = sum(view["amodal_px"] for view in seen)
        share = sum(view["visible_px"] for view in seen) / whole if whole else 0.0
        lines.append(f"{word(name)} {' '.join(f'{v:.6f}' for v in row)} {instance_id} {share:.4f}")
    return lines


def _dont_care(image: Image) -> str:
    """Return KITTI's lines: no truncation, occlusion, angle, size or place, but left, top, right, bottom in pixels."""
    boxes = (f"{x0:.2f} {y0:.2f} {x1:.2f} {y1:.2f}" for x0, y0, x1, y1 in image.ignored_px.tolist())
    return "".join(f"DontCare -1 -1 -10 {box} -1 -1 -1 -1000 -1000 -1000 -10\n" for box in boxes)


def _pose(sample: Sample, image: Image) -> JsonDict:
    return {
        "timestamp_us": sample.timestamp_us,
        "sample_token": sample.token,
        "translation": image.map_SE3_flu.translation_m.tolist(),
        "rotation_wxyz": image.map_SE3_flu.quat_wxyz.tolist(),
        "velocity": np.nan_to_num(image.drone_velocity_map_mps).tolist(),
    }


def _calibration(image: Image) -> JsonDict:
    return {
        "width": image.size_px[0],
        "height": image.size_px[1],
        "intrinsic": image.pinhole.tolist(),
        "drone_from_camera": {
            "translation": image.flu_SE3_optical.translation_m.tolist(),
            "rotation_wxyz": image.flu_SE3_optical.quat_wxyz.tolist(),
        },
    }
