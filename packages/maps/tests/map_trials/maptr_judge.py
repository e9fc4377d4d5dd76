"""Run MapTR's own converter on the dataset of a car, and print its vectors as JSON.

``.venv-judge/bin/python packages/maps/tests/map_trials/maptr_judge.py CONVERTER DATAROOT [PACKAGES]``: CONVERTER is
``custom_nusc_map_converter.py`` of a checkout, PACKAGES a folder with networkx. mmcv and mmdet3d, of which it uses a progress
bar and a check, are replaced by as much.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

from nuscenes import NuScenes
from nuscenes.can_bus.can_bus_api import NuScenesCanBus
from nuscenes.map_expansion import map_api


def main() -> None:
    """Convert, print."""
    root = Path(sys.argv[2])
    converter = _converter(Path(sys.argv[1]))
    (version,) = (path.name for path in root.glob("v1.0-*"))
    nusc = NuScenes(version, str(root), verbose=False)
    towns = sorted({log["location"] for log in nusc.log})
    map_api.locations[:] = towns
    maps = {town: map_api.NuScenesMap(str(root), town) for town in towns}
    explorers = {town: converter.CNuScenesMapExplorer(one) for town, one in maps.items()}
    scenes = [scene["token"] for scene in nusc.scene]
    infos, _ = converter._fill_trainval_infos(nusc, NuScenesCanBus(str(root)), maps, explorers, scenes, [])
    found = [
        {
            "scene": info["scene_token"],
            "sample": info["token"],
            "town": info["map_location"],
            "can_bus": [float(value) for value in info["can_bus"]],
            "vectors": {kind: [line.tolist() for line in lines] for kind, lines in info["annotation"].items()},
        }
        for info in infos
    ]
    json.dump(found, sys.stdout)


def _converter(path: Path) -> Any:
    sys.path += sys.argv[3:]
    for name in (
        "mmcv",
        "mmdet3d",
        "mmdet3d.core",
        "mmdet3d.core.bbox",
        "mmdet3d.core.bbox.box_np_ops",
        "mmdet3d.datasets",
    ):
        sys.modules[name] = types.ModuleType(name)
    vars(sys.modules["mmcv"]).update(track_iter_progress=iter, check_file_exist=lambda name: Path(name).stat())
    vars(sys.modules["mmdet3d.core.bbox.box_np_ops"])["points_cam2img"] = None
    vars(sys.modules["mmdet3d.datasets"])["NuScenesDataset"] = types.SimpleNamespace(NameMapping={})
    spec = importlib.util.spec_from_file_location("converter", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.argv[1:] = ["--out-dir", ""]  # which it reads when it is imported
    spec.loader.exec_module(module)
    return module


main()
