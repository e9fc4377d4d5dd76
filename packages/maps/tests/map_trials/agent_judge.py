"""Ask the unmodified devkit about the dataset of one agent on the ground and its maps; prints JSON.

``.venv-judge/bin/python packages/maps/tests/map_trials/agent_judge.py DATAROOT [SPLIT ...]``: how many of its poses are on the
drivable area, how many lanes are apart, its CAN bus, and with splits of the prediction challenge what the physics baselines
score.
"""

import json
import math
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from nuscenes import NuScenes
from nuscenes.can_bus.can_bus_api import NuScenesCanBus
from nuscenes.eval.prediction.compute_metrics import compute_metrics
from nuscenes.eval.prediction.config import PredictionConfig
from nuscenes.eval.prediction.data_classes import Prediction
from nuscenes.eval.prediction.metrics import OffRoadRate, RowMean
from nuscenes.eval.prediction.splits import get_prediction_challenge_split
from nuscenes.map_expansion import map_api
from nuscenes.map_expansion.utils import get_disconnected_lanes, get_egoposes_on_drivable_ratio
from nuscenes.prediction import PredictHelper
from nuscenes.prediction.models.physics import ConstantVelocityHeading, PhysicsOracle

_AGGREGATORS = [{"name": "RowMean"}]
_CONFIG: dict[str, Any] = {  # the challenge's own, but for OffRoadRate, which comes apart
    "seconds": 6,
    "metrics": [
        {"name": "MinFDEK", "k_to_report": [1, 5, 10], "aggregators": _AGGREGATORS},
        {"name": "MinADEK", "k_to_report": [1, 5, 10], "aggregators": _AGGREGATORS},
        {"name": "MissRateTopK", "k_to_report": [1, 5, 10], "tolerance": 2, "aggregators": _AGGREGATORS},
    ],
}


def main() -> None:
    """Ask, print."""
    root = Path(sys.argv[1])
    (version,) = (path.name for path in root.glob("v1.0-*"))
    nusc = NuScenes(version, str(root), verbose=False)
    towns = sorted({log["location"] for log in nusc.log})
    map_api.locations[:] = towns  # which the devkit's users change for maps of their own
    maps = {town: map_api.NuScenesMap(str(root), town) for town in towns}
    found: dict[str, Any] = {"on_drivable": {}, "disconnected": {}, "can_bus": {}}
    for town, town_map in maps.items():
        found["disconnected"][town] = len(get_disconnected_lanes(town_map))
    for scene in nusc.scene:
        town = nusc.get("log", scene["log_token"])["location"]
        ratio = get_egoposes_on_drivable_ratio(nusc, maps[town], scene["token"])
        found["on_drivable"][f"{scene['name']} {town}"] = ratio
        found["can_bus"][scene["name"]] = _can_bus(root, scene["name"])
    if len(sys.argv) > 2:
        found["prediction"] = _prediction(nusc, root, sys.argv[2:])
    json.dump(found, sys.stdout)


def _can_bus(root: Path, scene: str) -> dict[str, float]:
    bus = NuScenesCanBus(str(root))
    written = {
        path.name.removeprefix(f"{scene}_").removesuffix(".json") for path in (root / "can_bus").glob(f"{scene}_*")
    }
    frequency = bus.get_messages(scene, "meta")
    for name in written - {"meta"}:
        messages = bus.get_messages(scene, name)
        assert len(messages) == frequency[name]["message_count"]
    return {name: round(frequency[name]["message_freq"], 1) for name in sorted(written - {"meta"})}


def _prediction(nusc: NuScenes, root: Path, splits: list[str]) -> dict[str, Any]:
    helper = PredictHelper(nusc)
    tokens = [token for split in splits for token in get_prediction_challenge_split(split, str(root))]
    config = PredictionConfig.deserialize(_CONFIG, helper)
    scores: dict[str, Any] = {"agents": len(tokens)}
    for model in (ConstantVelocityHeading, PhysicsOracle):
        foretell = model(config.seconds, helper)
        found = [foretell(token) for token in tokens]
        scores[model.__name__] = compute_metrics([one.serialize() for one in found], helper, config)
        scores[model.__name__]["OffRoadRate"] = _off_road(nusc, helper, root, found)
    return scores


def _off_road(nusc: NuScenes, helper: PredictHelper, root: Path, found: list[Prediction]) -> float:
    """Return the devkit's OffRoadRate over all towns."""
    by_town: dict[str, list[Prediction]] = {}
    for one in found:
        by_town.setdefault(helper.get_map_name_from_sample_token(one.sample), []).append(one)
    rates = [rate for town, own in by_town.items() for rate in _off_road_rates(root, town, own)]
    map_api.locations[:] = sorted({log["location"] for log in nusc.log})
    return float(np.mean(rates))


def _off_road_rates(root: Path, town: str, found: list[Prediction]) -> list[float]:
    """Return the rate of each prediction; the devkit draws maps from (0, 0): the town is moved there, and they with it."""
    tables = json.loads((root / f"maps/expansion/{town}.json").read_text("utf-8"))
    west, south, east, north = tables["uav_bounds_m"]
    for node in tables["node"]:
        node["x"], node["y"] = node["x"] - west, node["y"] - south
    tables["canvas_edge"] = [math.ceil(east - west), math.ceil(north - south)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "maps/expansion").mkdir(parents=True)
        (Path(folder) / "maps/expansion/boston-seaport.json").write_text(json.dumps(tables), "utf-8")
        map_api.locations[:] = ["boston-seaport"]  # the one name that its get_map_mask takes, too
        there = SimpleNamespace(
            data=SimpleNamespace(dataroot=folder), get_map_name_from_sample_token=lambda _: "boston-seaport"
        )
        metric = OffRoadRate(there, [RowMean()])
    moved = (Prediction(p.instance, p.sample, p.prediction - (west, south), p.probabilities) for p in found)
    return [float(np.mean(metric(np.zeros((12, 2)), one))) for one in moved]


main()
