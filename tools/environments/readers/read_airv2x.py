"""Read a split with AirV2X's own BaseDataset and print its content: read_airv2x.py AIRV2X FOLDER KIND_OF_EGO."""

import importlib
import json
import sys
import types
from typing import Any

import matplotlib
import numpy as np
from absent import stub_packages
from matplotlib import cm

checkout, folder, ego_type = sys.argv[1:]
sys.path.insert(0, checkout)
for name in (
    "opencood.data_utils.datasets",
    "opencood.data_utils.augmentor",
):  # their __init__ import models and compiled parts
    package = types.ModuleType(name)
    package.__path__ = [f"{checkout}/{name.replace('.', '/')}"]
    sys.modules[name] = package
stub_packages("torchvision", "pypcd", "pandas")  # imported, but not used for reading
importlib.import_module("torchvision.transforms")
if not hasattr(cm, "get_cmap"):  # matplotlib 3.9 removed it
    setattr(cm, "get_cmap", matplotlib.colormaps.get_cmap)  # noqa: B010 - mypy knows the module as it is
from opencood.data_utils.datasets.airv2x.basedataset import BaseDataset  # noqa: E402 - after the lines above
from opencood.utils import camera_utils  # noqa: E402
from opencood.utils.box_utils import project_world_objects_airv2x  # noqa: E402

FAR = [-1000.0, -1000.0, -1000.0, 1000.0, 1000.0, 1000.0]
options = {
    "data_augment": [],
    "root_dir": folder,
    "validate_dir": folder,
    "fusion": {"args": {"proj_first": True}},
    "ego_type": ego_type,
}
data = BaseDataset(options, False, train=False)
data.correct_lidar_coordinate_system = False  # the default of its fusion datasets
found = []
for number in range(len(data)):
    agents = {}
    for agent, content in data.retrieve_base_data(number)[0].items():
        params, boxes = content["params"], dict[int, Any]()
        project_world_objects_airv2x(params["objects"], boxes, params["cur_ego_lidar_pose"], FAR, "lwh", "airv2x")
        lidar_from_optical = [camera_utils.ue4_to_lss(one) for one in params["cur_extrinsic"]]
        agents[agent] = {
            "ego": content["ego"],
            "kind": content["agent_type"],
            "points": content["lidar_np"][::20].tolist(),
            "ego_from_lidar": params["transformation_matrix"].tolist(),
            "lidar_from_optical": np.array(lidar_from_optical).tolist(),
            "intrinsic": params["cur_intrinsic"].tolist(),
            "images": [list(image.size) for image in content["cameras"]],
            "depth_m": [float(camera_utils.decode_depth_carla(d, to_PIL=False).median()) for d in content["depth"]],
            "dynamic": content["dynamic_seg_label"][::4, ::4].tolist(),
            "static": content["static_seg_label"][::4, ::4].tolist(),
            "boxes": {int(key): [*map(float, next(iter(box))), int(label)] for key, (box, label) in boxes.items()},
        }
    found.append(agents)
sys.stdout.write(json.dumps(found) + "\n")
