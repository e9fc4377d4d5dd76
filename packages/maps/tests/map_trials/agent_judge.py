"""Ask the unmodified devkit about the dataset of one agent on the ground and its maps; prints JSON.

``.venv-judge/bin/python packages/maps/tests/map_trials/agent_judge.py DATAROOT [SPLIT]``: how many of its poses are on the
drivable area, how many lanes are apart, its CAN bus, and with a split of the prediction challenge what the physics baselines
score.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from nuscenes import NuScenes
from nuscenes.can_bus.can_bus_api import NuScenesCanBus
from nuscenes.eval.prediction.compute_metrics import compute_metrics
from nuscenes.eval.prediction.config import PredictionConfig
from nuscenes.eval.prediction.splits import get_prediction_challenge_split
from nuscenes.map_expansion import map_api
from nuscenes.map_expansion.utils import get_disconnected_lanes, get_egoposes_on_drivable_ratio
from nuscenes.prediction import PredictHelper
from nuscenes.prediction.models.physics import ConstantVelocityHeading, PhysicsOracle

_AGGREGATORS = [{"name": "RowMean"}]
_CONFIG: dict[
    str, Any
] = {  # the challenge's own, but for OffRoadRate: it draws maps from (0, 0), and towns lie around it
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
        found["prediction"] = _prediction(nusc, root, sys.argv[2])
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


def _prediction(nusc: NuScenes, root: Path, split: str) -> dict[str, Any]:
    helper = PredictHelper(nusc)
    tokens = get_prediction_challenge_split(split, str(root))
    config = PredictionConfig.deserialize(_CONFIG, helper)
    scores: dict[str, Any] = {"agents": len(tokens)}
    for model in (ConstantVelocityHeading, PhysicsOracle):
        foretell = model(config.seconds, helper)
        scores[model.__name__] = compute_metrics([foretell(token).serialize() for token in tokens], helper, config)
    return scores


main()
