"""Cases for the benchmark of evaluations: a dataset of many scenes, with detections or tracks on it."""

import json
from pathlib import Path
from typing import Any

import numpy as np

VERSION, SPLIT = "v1.0-trainval", "bench_split"
SAMPLES_PER_SCENE, BOXES, PREDICTIONS = 20, 165, 300
_CHANNELS = {"s": "LIDAR_TOP", "b": "CAMERA_BOTTOM_id_0"}


def write_case(folder: Path, task: str, samples: int) -> Path:
    """Write a dataset and a result with noise, duplicates and false positives; whole scenes."""
    tables = folder / VERSION
    tables.mkdir(parents=True)
    rng = np.random.default_rng(0)
    scenes = samples // SAMPLES_PER_SCENE
    small: dict[str, list[dict[str, Any]]] = {
        "category": [{"token": "c", "name": "vehicle.car", "description": ""}],
        "attribute": [{"token": "a", "name": "vehicle.moving", "description": ""}],
        "visibility": [{"token": "4", "level": "v80-100", "description": ""}],
        "sensor": [{"token": token, "channel": name, "modality": "camera"} for token, name in _CHANNELS.items()],
        "calibrated_sensor": [
            {
                "token": f"k{s}",
                "sensor_token": s,
                "translation": [0, 0, 0],
                "rotation": [1, 0, 0, 0],
                "camera_intrinsic": [],
            }
            for s in _CHANNELS
        ],
        "log": [{"token": "l", "logfile": "", "vehicle": "", "date_captured": "2026-01-01", "location": "x"}],
        "map": [{"token": "m", "log_tokens": ["l"], "category": "", "filename": "x.png"}],
    }
    (folder / "x.png").touch()
    names = ("scene", "sample", "sample_data", "ego_pose", "instance", "sample_annotation")
    files = {name: (tables / f"{name}.json").open("w") for name in names}
    results = (folder / "results.json").open("w")
    results.write('{"meta": {}, "results": {')
    first = dict.fromkeys(names, True)
    for scene in range(scenes):
        for name, lines in _scene(rng, scene, task, results, last=scene + 1 == scenes).items():
            files[name].write(("[\n" if first[name] else ",\n") + ",\n".join(json.dumps(line) for line in lines))
            first[name] = False
    for file in files.values():
        file.write("\n]\n")
        file.close()
    results.write("}}")
    results.close()
    for name, table in small.items():
        (tables / f"{name}.json").write_text(json.dumps(table))
    (tables / "splits.json").write_text(json.dumps({SPLIT: [f"scene_{n}" for n in range(scenes)]}))
    return folder


def _scene(
    rng: np.random.Generator, scene: int, task: str, results: Any, *, last: bool
) -> dict[str, list[dict[str, Any]]]:
    tokens = [f"{scene}_{k}" for k in range(SAMPLES_PER_SCENE)]
    place, speed = rng.uniform(-45, 45, (BOXES, 2)), rng.normal(0, 2, (BOXES, 2))
    reported: dict[str, list[dict[str, Any]]] = {
        "scene": [
            {
                "token": f"sc{scene}", "name": f"scene_{scene}", "nbr_samples": len(tokens), "log_token": "l",
                "description": "", "first_sample_token": tokens[0], "last_sample_token": tokens[-1],
            }
        ],
        "sample": [], "sample_data": [], "ego_pose": [], "sample_annotation": [],
        "instance": [
            {
                "token": f"i{scene}_{n}", "category_token": "c", "nbr_annotations": len(tokens),
                "first_annotation_token": f"{tokens[0]}_{n}", "last_annotation_token": f"{tokens[-1]}_{n}",
            }
            for n in range(BOXES)
        ],
    }  # fmt: skip
    for k, token in enumerate(tokens):
        before, after = tokens[k - 1] if k else "", tokens[k + 1] if k + 1 < len(tokens) else ""
        time_us = 10**15 + scene * 10**8 + k * 500_000
        reported["sample"].append(
            {"token": token, "timestamp": time_us, "scene_token": f"sc{scene}", "prev": before, "next": after}
        )
        reported["ego_pose"].append(
            {"token": token, "timestamp": time_us, "translation": [0, 0, 0], "rotation": [1, 0, 0, 0]}
        )
        reported["sample_data"] += [
            {
                "token": f"{token}{s}", "sample_token": token, "ego_pose_token": token, "calibrated_sensor_token": f"k{s}",
                "timestamp": time_us, "fileformat": "bin", "is_key_frame": True, "height": 0, "width": 0, "filename": "x",
                "prev": "", "next": "",
            }
            for s in _CHANNELS
        ]  # fmt: skip
        now = place + speed * 0.5 * k
        for n, (x, y) in enumerate(now.tolist()):
            reported["sample_annotation"].append(
                {
                    "token": f"{token}_{n}", "sample_token": token, "instance_token": f"i{scene}_{n}",
                    "visibility_token": "4", "attribute_tokens": ["a"], "translation": [x, y, 1.0], "size": [2, 4.5, 1.5],
                    "rotation": [1, 0, 0, 0], "num_lidar_pts": 9, "num_radar_pts": 0,
                    "uav_seen_by": list(range(n % 5 + 1)),
                    "prev": f"{before}_{n}" if before else "", "next": f"{after}_{n}" if after else "",
                }
            )  # fmt: skip
        comma = "" if last and k + 1 == len(tokens) else ","
        results.write(f"{json.dumps(token)}:{json.dumps(_predictions(rng, token, now, task))}{comma}\n")
    return reported


def _predictions(rng: np.random.Generator, token: str, place: Any, task: str) -> list[dict[str, Any]]:
    of = rng.integers(0, BOXES, PREDICTIONS)
    spread = np.where(rng.random(PREDICTIONS) < 0.6, 0.5, 8.0)
    at = (place[of] + rng.normal(0, 1, (PREDICTIONS, 2)) * spread[:, None]).round(4).tolist()
    score = rng.random(PREDICTIONS).round(6).tolist()
    base = {"sample_token": token, "size": [2.1, 4.4, 1.5], "rotation": [1, 0, 0, 0], "velocity": [0.5, 0.1]}
    if task == "detection":
        own = {"detection_name": "car", "attribute_name": "vehicle.moving"}
        return [
            base | own | {"translation": [x, y, 1.0], "detection_score": s} for (x, y), s in zip(at, score, strict=True)
        ]
    seen: set[int] = set()
    boxes: list[dict[str, Any]] = []
    for number, (x, y), s in zip(of.tolist(), at, score, strict=True):
        track = f"t{number}" if number not in seen else f"u{len(boxes)}"
        seen.add(number)
        boxes.append(
            base | {"translation": [x, y, 1.0], "tracking_name": "car", "tracking_score": s, "tracking_id": track}
        )
    return boxes
