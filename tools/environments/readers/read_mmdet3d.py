"""Read infos with mmdet3d's own NuScenesDataset and print its content: read_mmdet3d.py DATAROOT INFOS.pkl."""

import json
import sys

from absent import stub_packages

# Compiled operators and models: a dataset class touches neither.
stub_packages(
    "mmcv.ops", "mmdet.models", "mmdet3d.models", "lyft_dataset_sdk", "nuscenes", "trimesh", "plyfile", "skimage"
)
from mmdet3d.datasets.nuscenes_dataset import NuScenesDataset  # noqa: E402 - after the line above

data = NuScenesDataset(
    data_root=sys.argv[1],
    ann_file=sys.argv[2],
    pipeline=[],
    data_prefix={"pts": "", "img": "", "sweeps": ""},
    modality={"use_camera": True, "use_lidar": True},
    filter_empty_gt=False,
)
found = []
for number in range(len(data)):
    info = data.get_data_info(number)
    labels = info["ann_info"]
    found.append(
        {
            "token": info["token"],
            "centres": labels["gt_bboxes_3d"].gravity_center.tolist(),
            "sizes": labels["gt_bboxes_3d"].dims.tolist(),
            "velocities": labels["gt_bboxes_3d"].tensor[:, 7:9].tolist(),
            "classes": [data.metainfo["classes"][n] for n in labels["gt_labels_3d"].tolist()],
            "lidar": info["lidar_points"]["lidar_path"],
            "images": {channel: image["img_path"] for channel, image in info["images"].items()},
        }
    )
sys.stdout.write(json.dumps(found) + "\n")
