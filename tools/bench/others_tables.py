"""carla_nuscenes' bookkeeping on made-up scenes as large as UAV3D's: ``tools.bench.others_tables CHECKOUT FOLDER SCENES``.

Its ``Dataset`` is called as its ``Generator.add_one_scene`` does: instances, calibrated sensors, then sample by sample the ego
pose and the image of each camera and every visible box, and all tables saved after every scene. It is not changed. What it
imports and does not call here (pyquaternion) is stood in for where it is not installed; it gets no image to write.
"""

import contextlib
import importlib
import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from tools.bench.assemble_many import BOXES, SAMPLES

__all__ = ["add_scene", "dataset_of", "main"]

CAMERAS = [f"CAMERA_{c}_id_{d}" for d in range(5) for c in ("FRONT", "LEFT", "RIGHT", "BACK", "BOTTOM")]
INTRINSIC = [[400.0, 0.0, 400.0], [0.0, 400.0, 225.0], [0.0, 0.0, 1.0]]
TURN = [0.6532814824381883, 0.27059805007309845, -0.27059805007309834, 0.6532814824381882]


def stand_in(name: str, *names: str) -> None:
    """Let a module be imported that is not installed; what is called of it fails."""
    try:
        importlib.import_module(name)
    except ImportError:
        module = ModuleType(name)
        vars(module).update(dict.fromkeys(names))
        sys.modules[name] = module


def dataset_of(checkout: Path, folder: Path) -> Any:
    """Open an empty dataset of theirs with our cameras."""
    stand_in("pyquaternion", "Quaternion")
    sys.path.insert(0, str(checkout))
    dataset = importlib.import_module("carla_nuscenes.dataset").Dataset(str(folder / "set"), "v1.0-trainval")
    for camera in CAMERAS:
        dataset.update_sensor(camera, "camera")
    dataset.update_category("vehicle.car", "")
    dataset.update_attribute("vehicle.moving", "")
    for level in ("0-40", "40-60", "60-80", "80-100"):
        dataset.update_visibility(level, level)
    return dataset


def add_scene(dataset: Any, log: str, number: int, *, samples: int = SAMPLES, boxes: int = BOXES) -> None:
    """Add a scene as their generator does; a box that is lost from sight has none in some sample, these are always seen."""
    data = dataset.data
    sensors = {row["channel"]: row["token"] for row in data["sensor"]}
    (category,), (attribute,) = data["category"], data["attribute"]
    scene = dataset.update_scene(log, "")
    instances = [dataset.update_instance(category["token"], f"{scene}{k}") for k in range(boxes)]
    calibrated = {
        name: dataset.update_calibrated_sensor(scene, token, name, _place(1), TURN, INTRINSIC)
        for name, token in sensors.items()
    }
    before, last_box, sample = dict.fromkeys(CAMERAS, ""), [""] * boxes, ""
    for k in range(samples):
        stamp_us = 10**9 * number + 500_000 * k
        sample = dataset.update_sample(sample, scene, stamp_us)
        for name in CAMERAS:
            pose = dataset.update_ego_pose(scene, calibrated[name], stamp_us, _place(k), TURN)
            before[name] = dataset.update_sample_data(
                before[name], calibrated[name], sample, pose, True, (None, None), 450, 800
            )
        for i, instance in enumerate(instances):
            size, turn = [2.1634, 4.7918, 1.4884], TURN
            last_box[i] = dataset.update_sample_annotation(
                last_box[i], sample, instance, "3", [attribute["token"]], _place(i), turn, size, 17 * i, 0
            )


def _place(seed: int) -> list[float]:
    return [seed * 0.123456789012, -seed * 1.987654321098, 60.000000953674316]


def main() -> None:
    """Print wall and processor seconds of all scenes."""
    checkout, folder, scenes = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):  # it prints every file's name
        dataset = dataset_of(checkout, folder)
        town = dataset.update_map("Town10HD", "semantic_prior")
        log = dataset.update_log(town, "2026-01-01", "00:00", "+00:00", "5 drones", "Town10HD")
        wall, cpu = time.perf_counter(), time.process_time()
        for number in range(scenes):
            dataset.update_scene_count()
            add_scene(dataset, log, number)
            dataset.save()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rows = {name: len(table) for name, table in dataset.data.items()}
    sys.stdout.write(json.dumps({"wall_s": wall, "cpu_s": cpu, "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
