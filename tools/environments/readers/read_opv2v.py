"""Read a split with OpenCOOD's own BaseDataset and print its content: read_opv2v.py OPENCOOD FOLDER."""

import json
import sys
import types

checkout, folder = sys.argv[1:]
sys.path.insert(0, checkout)
package = types.ModuleType("opencood.data_utils.datasets")  # its own __init__ imports models and their compiled parts
package.__path__ = [f"{checkout}/opencood/data_utils/datasets"]
sys.modules[package.__name__] = package
from opencood.data_utils.datasets.basedataset import BaseDataset  # noqa: E402 - after the lines above
from opencood.utils.box_utils import project_world_objects  # noqa: E402

FAR = [-1000.0, -1000.0, -1000.0, 1000.0, 1000.0, 1000.0]
data = BaseDataset(
    {"data_augment": [], "root_dir": folder, "validate_dir": folder, "train_params": {"max_cav": 99}}, False
)
found = []
for number in range(len(data)):
    drones = {}
    for drone, content in data.retrieve_base_data(number).items():
        boxes: dict[int, list[list[float]]] = {}
        params = content["params"]
        project_world_objects(params["vehicles"], boxes, params["lidar_pose"], FAR, "lwh")
        drones[drone] = {
            "ego": content["ego"],
            "points": content["lidar_np"].tolist(),
            "boxes": {int(key): [float(v) for v in next(iter(box))] for key, box in boxes.items()},
        }
    found.append(drones)
sys.stdout.write(json.dumps(found) + "\n")
