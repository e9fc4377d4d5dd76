"""MMDetection3D's nuScenes infos, version 2 (``nuscenes_infos_<split>.pkl``), with any number of cameras.

Its own converter insists on the six cameras of a car and on scene names of nuScenes; the info file itself does not. Boxes are
in the frame of LIDAR_TOP (x, y, z of the centre, l, w, h, yaw), paths relative to the data set's root: set ``data_root`` to it
and every ``data_prefix`` to "".
Source: mmdetection3d v1.4 ``tools/dataset_converters/update_infos_to_v2.py``, ``mmdet3d/datasets/nuscenes_dataset.py``.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from uavsim.export.keyframes import CameraView, ExportRequest, Keyframe, open_source
from uavsim.export.text import write_bytes
from uavsim.files.parse import reading
from uavsim.geometry import quaternion
from uavsim.records.classes import DETECTION_CLASSES, detection_class
from uavsim.typing import FloatArray

__all__ = ["export_mmdet3d"]


def export_mmdet3d(request: ExportRequest) -> list[Path]:
    """Write one info file."""
    with reading(request.root):
        return _export_mmdet3d(request)


def _export_mmdet3d(request: ExportRequest) -> list[Path]:
    source = open_source(request)
    infos = [_info(frame, index) for index, frame in enumerate(source.keyframes())]
    content = {
        "metainfo": {
            "categories": {name: number for number, name in enumerate(DETECTION_CLASSES)},
            "dataset": "nuscenes",
            "version": source.reader.version,
            "info_version": "1.1",
        },
        "data_list": infos,
    }
    return [write_bytes(request.out / f"nuscenes_infos_{source.split}.pkl", pickle.dumps(content, protocol=4))]


def _info(frame: Keyframe, index: int) -> dict[str, Any]:
    map_T_bev = _matrix(frame.map_t_bev_m, frame.map_q_bev_wxyz)
    return {
        "sample_idx": index,
        "token": frame.token,
        "timestamp": frame.timestamp_us / 1e6,
        "ego2global": map_T_bev.tolist(),
        "lidar_points": {"lidar_path": frame.lidar_file, "lidar2ego": np.eye(4).tolist(), "num_pts_feats": 5},
        "lidar_sweeps": [],
        "images": {view.channel: _image(frame, view, map_T_bev) for view in frame.cameras},
        "instances": _instances(frame),
    }


def _image(frame: Keyframe, view: CameraView, map_T_bev: FloatArray) -> dict[str, Any]:
    map_T_camera = _matrix(view.map_t_optical_m, view.map_q_optical_wxyz)
    return {
        "img_path": view.filename,
        "cam2img": view.intrinsic.tolist(),
        "cam2ego": (np.linalg.inv(map_T_bev) @ map_T_camera).tolist(),
        "lidar2cam": (np.linalg.inv(map_T_camera) @ map_T_bev).tolist(),
        "sample_data_token": view.token,
        "timestamp": frame.timestamp_us / 1e6,
        "height": view.size_px[1],
        "width": view.size_px[0],
    }


def _instances(frame: Keyframe) -> list[dict[str, Any]]:
    boxes = frame.boxes
    if not boxes.rows:
        return []
    bev_q_map = quaternion.conjugate(frame.map_q_bev_wxyz)
    centre = quaternion.rotate(bev_q_map, boxes.map_t_box_m - frame.map_t_bev_m)
    yaw = quaternion.yaw(quaternion.multiply(bev_q_map, boxes.map_q_box_wxyz))
    velocity = quaternion.rotate(bev_q_map, boxes.velocity_map_mps)[:, :2]
    rows = np.concatenate([centre, boxes.size_lwh_m, yaw[:, None]], axis=1)
    found = [detection_class(name) for name in boxes.category]
    labels = [-1 if name is None else DETECTION_CLASSES.index(name) for name in found]
    columns = zip(
        rows.tolist(), labels, velocity.tolist(), [row["num_lidar_pts"] for row in boxes.rows], boxes.rows, strict=True
    )
    return [
        {
            "bbox_3d": box,
            "bbox_label": label,
            "bbox_label_3d": label,
            "velocity": speed,
            "num_lidar_pts": seen,
            "num_radar_pts": 0,
            "bbox_3d_isvalid": seen > 0,
            "instance_token": row["instance_token"],
        }
        for box, label, speed, seen, row in columns
    ]


def _matrix(t_m: FloatArray, q_wxyz: FloatArray) -> FloatArray:
    matrix = np.eye(4)
    matrix[:3, :3] = quaternion.to_matrix(q_wxyz)
    matrix[:3, 3] = t_m
    return matrix
