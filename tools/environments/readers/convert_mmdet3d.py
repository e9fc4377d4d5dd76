"""Make infos with MMDetection3D's own nuScenes converter: convert_mmdet3d.py CHECKOUT DATAROOT VERSION WORK."""

import importlib
import os
import pickle
import sys
from pathlib import Path

from absent import stub_packages

checkout, root, version, work = sys.argv[1:]
sys.path.insert(0, f"{checkout}/tools/dataset_converters")
# What the devkit and mmdet3d need to draw, score and run.
stub_packages("sklearn", "descartes", "fire", "mmcv.ops", "mmdet.models", "mmdet3d.models")
stub_packages("lyft_dataset_sdk", "trimesh", "plyfile", "skimage")
linked = Path(work, "data/nuscenes")  # input folder of the second step
linked.parent.mkdir(parents=True)
linked.symlink_to(Path(root).resolve())
os.chdir(work)
importlib.import_module("nuscenes_converter").create_nuscenes_infos("data/nuscenes", "uavsim", version)
for split in ("train", "val"):
    infos = f"data/nuscenes/uavsim_infos_{split}.pkl"
    if pickle.loads(Path(infos).read_bytes())["infos"]:  # an empty split stops their second step
        importlib.import_module("update_infos_to_v2").update_nuscenes_infos(infos, work)
sys.stdout.write("\nnull\n")
