"""KITTI in Griffin's manner: boxes with all three angles in each drone's own frame.

KITTI's own ``label_2`` knows one angle about the camera's vertical and is wrong for cameras that look down. Griffin therefore
writes boxes in the drone's flu frame: ``type x y z l w h roll pitch yaw id visibility`` (metres, degrees; the box centre; roll
positive lifts the left side, pitch positive lowers the nose, yaw counter-clockwise). Layout::

    <split>/drone_<id>/label/<scene>_<frame>.txt       camera/<CAMERA>/<scene>_<frame>.png      pose/<scene>_<frame>.json
    <split>/drone_<id>/calib/<CAMERA>.json             visibility: share of the object that this drone's cameras see, 0..1
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from uavsim.export.keyframes import CameraView, ExportRequest, Keyframe, open_source
from uavsim.export.text import write_json, write_text
from uavsim.files.bring import bring_file
from uavsim.files.parse import reading
from uavsim.geometry import quaternion
from uavsim.typing import FloatArray, JsonDict

__all__ = ["export_kitti", "flu_euler_deg"]


def export_kitti(request: ExportRequest) -> list[Path]:
    """Write one folder a drone; images are hard-linked.

    Raises:
        DatasetError: an image is missing.
    """
    with reading(request.root):
        return _export_kitti(request)


def _export_kitti(request: ExportRequest) -> list[Path]:
    source = open_source(request)
    folder = request.out / source.split
    for frame in source.keyframes():
        name = f"{frame.scene}_{frame.number:06d}"
        for drone_id, views in frame.drones().items():
            own = folder / f"drone_{drone_id}"
            write_text(own / "label" / f"{name}.txt", "".join(f"{line}\n" for line in _labels(frame, views)))
            write_json(own / "pose" / f"{name}.json", _pose(frame, views[0]))
            for view in views:
                image = f"camera/{view.camera}/{name}{Path(view.filename).suffix}"
                bring_file(request.root / view.filename, own / image)
                calibration = own / "calib" / f"{view.camera}.json"
                if not calibration.exists():
                    write_json(calibration, _calibration(view))
    return [folder]


def flu_euler_deg(flu_q_box_wxyz: FloatArray) -> FloatArray:
    """Return (N, 3) roll, pitch, yaw in degrees of (N, 4) rotations in a flu frame: Rz(yaw) Ry(pitch) Rx(roll)."""
    m = quaternion.to_matrix(flu_q_box_wxyz)
    level = np.hypot(m[..., 0, 0], m[..., 1, 0])
    roll = np.arctan2(m[..., 2, 1], m[..., 2, 2])
    yaw = np.arctan2(m[..., 1, 0], m[..., 0, 0])
    return np.asarray(np.degrees(np.stack([roll, np.arctan2(-m[..., 2, 0], level), yaw], axis=-1)))


def _labels(frame: Keyframe, views: list[CameraView]) -> list[str]:
    drone, boxes = views[0], frame.boxes
    flu_q_map = quaternion.conjugate(drone.map_q_flu_wxyz)
    place_m = quaternion.rotate(flu_q_map, boxes.map_t_box_m - drone.map_t_flu_m)
    euler_deg = flu_euler_deg(quaternion.multiply(flu_q_map, boxes.map_q_box_wxyz)) if boxes.rows else np.zeros((0, 3))
    own = {view.token for view in views}
    lines = []
    numbers = np.concatenate([place_m, boxes.size_lwh_m, euler_deg], axis=1)
    for name, row, instance_id, detail in zip(
        boxes.category, numbers, boxes.instance_id.tolist(), boxes.details, strict=True
    ):
        seen = [view for view in detail["views"] if view["sample_data_token"] in own]
        whole = sum(view["amodal_px"] for view in seen)
        share = sum(view["visible_px"] for view in seen) / whole if whole else 0.0
        lines.append(f"{name} {' '.join(f'{v:.6f}' for v in row)} {instance_id} {share:.4f}")
    return lines


def _pose(frame: Keyframe, view: CameraView) -> JsonDict:
    return {
        "timestamp_us": frame.timestamp_us,
        "sample_token": frame.token,
        "translation": view.map_t_flu_m.tolist(),
        "rotation_wxyz": view.map_q_flu_wxyz.tolist(),
        "velocity": view.ego_velocity_map_mps.tolist(),
    }


def _calibration(view: CameraView) -> JsonDict:
    return {
        "width": view.size_px[0],
        "height": view.size_px[1],
        "intrinsic": view.intrinsic.tolist(),
        "drone_from_camera": {"translation": view.flu_t_m.tolist(), "rotation_wxyz": view.flu_q_optical_wxyz.tolist()},
    }
