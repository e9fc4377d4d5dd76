"""Let the unmodified devkit judge the maps of a dataset whose towns cars drive through: layers, poses, CAN bus, prediction.

``scripts/trial map-devkit DATASET OUT``: DATASET has ``maps: [expansion]`` and cars with a CAN bus, that drive for 8 s; OUT
gets the export of each agent and the devkit's drawings of each town, to be looked at. It prints a line for each town and each
agent.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from uavsim.environment import python_command

ROOT = Path(__file__).parents[4]
SPLITS = ("train_val", "val")  # which know scene-0001 and on
CAN_BUS_HZ = {
    "ms_imu": 100, "pose": 50, "steeranglefeedback": 100, "vehicle_monitor": 2, "zoesensors": 800, "zoe_veh_info": 100,
}  # fmt: skip


def main() -> None:
    """Export, ask, print."""
    parser = argparse.ArgumentParser(prog="scripts/trial map-devkit")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    wrong: list[str] = []
    for path in sorted((options.dataset / "maps/expansion").glob("*.json")):
        found = _judge("devkit_judge.py", options.dataset, path.stem, options.out / path.stem)
        wrong += [f"{path.stem}: {what}" for what in _wrong_of_town(found)]
        print(f"{path.stem}: {found}", flush=True)
    agents = options.out / "agents"
    command = python_command("uavsim", "export", str(options.dataset), str(agents), "--format", "agents")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for folder in sorted(path.parent for path in agents.rglob("can_bus")):
        found = _judge("agent_judge.py", folder, *SPLITS)
        is_car = folder.name.startswith("vehicle")
        wrong += [f"{folder.name}: {what}" for what in _wrong_of_agent(found, is_car=is_car)]
        print(f"{folder.name}: {found}", flush=True)
    print("wrong: " + ("; ".join(wrong) if wrong else "nothing"))
    sys.exit(1 if wrong else 0)


def _judge(program: str, *words: object) -> Any:
    command = [ROOT / ".venv-judge/bin/python", "-W", "ignore", Path(__file__).with_name(program), *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout)


def _wrong_of_town(found: Any) -> list[str]:
    wrong = [f"{found['disconnected']} lanes are apart"] if found["disconnected"] else []
    wrong += [f"no {layer}" for layer in ("lane", "lane_connector", "drivable_area") if not found["layers"][layer]]
    if not found["poses"] or found["closest_lane_worst_m"] > 0.6:  # it samples lanes every half metre
        wrong.append("lanes are not found where they are")
    return wrong + ([] if found["mask"]["drivable_area"] else ["an empty mask"])


def _wrong_of_agent(found: Any, *, is_car: bool) -> list[str]:
    wrong = [f"{town}: {count} lanes are apart" for town, count in found["disconnected"].items() if count]
    if not is_car:
        return wrong
    wrong += [f"{scene}: {ratio} on drivable" for scene, ratio in found["on_drivable"].items() if ratio != 1.0]
    for scene, rates in found["can_bus"].items():
        off = {name: abs(rates.get(name, 0.0) - hz) for name, hz in CAN_BUS_HZ.items()}  # it counts both ends
        wrong += [f"{scene}: {name} at {rates.get(name)} Hz" for name in off if off[name] > 0.2]
    return wrong + ([] if found["prediction"]["agents"] else ["nobody to predict"])
