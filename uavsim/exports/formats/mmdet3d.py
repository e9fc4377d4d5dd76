"""MMDetection3D's nuScenes infos, version 2 (``nuscenes_infos_<split>.pkl``), with any number of cameras.

Its own converter requires the six cameras of a car and nuScenes' scene names; the info file does not. Boxes are in the frame
of LIDAR_TOP (x, y, z of the centre, l, w, h, yaw). Paths are relative to the dataset's root: set ``data_root`` to the root and
every ``data_prefix`` to "".
Source: mmdetection3d v1.4 ``tools/dataset_converters/update_infos_to_v2.py``, ``mmdet3d/datasets/nuscenes_dataset.py``.
"""

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from uavsim.access import Boxes, Image, LidarScan, Sample
from uavsim.exports.formats.request import ExportRequest, bev_of, exporter
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.classes import DETECTION_CLASSES, detection_class


@exporter
def export_mmdet3d(request: ExportRequest) -> list[Path]:
    """Write one info file."""
    data = request.open_labelled()
    infos = [_info(sample, index) for index, sample in enumerate(data.samples(request.split))]
    content = {
        "metainfo": {
            "categories": {name: number for number, name in enumerate(DETECTION_CLASSES)},
            "dataset": "nuscenes",
            "version": data.version,
            "info_version": "1.1",
        },
        "data_list": infos,
    }
    target = ResultPath.open(request.out) / f"nuscenes_infos_{request.split_name}.pkl"
    return [write_whole(target, pickle.dumps(content, protocol=4)).display_path]


def _info(sample: Sample, index: int) -> dict[str, Any]:
    bev = bev_of(sample)
    lidar: dict[str, Any] = {"lidar_path": bev.filename, "lidar2ego": bev.flu_SE3_sensor.matrix.tolist()}
    return {
        "sample_idx": index,
        "token": sample.token,
        "timestamp": sample.timestamp_us / 1e6,
        "ego2global": bev.map_SE3_flu.matrix.tolist(),
        "lidar_points": lidar | {"num_pts_feats": 5},
        "lidar_sweeps": [],
        "images": {image.channel: _image(sample, image, bev) for image in sample.images},
        "instances": _instances(sample.boxes, bev.map_SE3_sensor),
    }


def _image(sample: Sample, image: Image, bev: LidarScan) -> dict[str, Any]:
    return {
        "img_path": image.filename,
        "cam2img": image.pinhole.tolist(),
        "cam2ego": (bev.map_SE3_flu.inverse() @ image.map_SE3_optical).matrix.tolist(),
        "lidar2cam": (image.map_SE3_optical.inverse() @ bev.map_SE3_sensor).matrix.tolist(),
        "sample_data_token": image.token,
        "timestamp": sample.timestamp_us / 1e6,
        "height": image.size_px[1],
        "width": image.size_px[0],
    }


def _instances(boxes: Boxes, map_SE3_lidar: SE3) -> list[dict[str, Any]]:
    if not len(boxes):
        return []
    lidar_SE3_map = map_SE3_lidar.inverse()
    centre = map_SE3_lidar.apply_inverse(boxes.map_SE3_box.translation_m)
    yaw = quaternion.yaw((lidar_SE3_map @ boxes.map_SE3_box).quat_wxyz)
    velocity = lidar_SE3_map.rotate(boxes.velocity_map_mps)[:, :2]
    rows = np.concatenate([centre, boxes.size_lwh_m, yaw[:, None]], axis=1)
    classes = [detection_class(name) for name in boxes.categories]
    labels = [-1 if name is None else DETECTION_CLASSES.index(name) for name in classes]
    columns = zip(
        rows.tolist(), labels, velocity.tolist(), boxes.lidar_points.tolist(), boxes.instance_tokens, strict=True
    )
    return [
        {
            "bbox_3d": box,
            "bbox_label": label,
            "bbox_label_3d": label,
            "velocity": speed,
            "num_lidar_pts": points,
            "num_radar_pts": 0,
            "bbox_3d_isvalid": points > 0,
            "instance_token": token,
        }
        for box, label, speed, points, token in columns
    ]
