"""Small nuScenes-format datasets with all kinds of irregularities, and results for them."""

import json
from pathlib import Path
from typing import Any

import numpy as np

VERSION = "v1.0-trainval"
CATEGORIES = (
    "vehicle.car", "vehicle.truck", "vehicle.bus.rigid", "vehicle.bus.bendy", "vehicle.trailer", "vehicle.construction",
    "human.pedestrian.adult", "human.pedestrian.child", "vehicle.motorcycle", "vehicle.bicycle",
    "movable_object.trafficcone", "movable_object.barrier", "static_object.bicycle_rack", "animal",
)  # fmt: skip
NAMES = {
    "vehicle.car": "car", "vehicle.truck": "truck", "vehicle.bus.rigid": "bus", "vehicle.bus.bendy": "bus",
    "vehicle.trailer": "trailer", "vehicle.construction": "construction_vehicle", "human.pedestrian.adult": "pedestrian",
    "human.pedestrian.child": "pedestrian", "vehicle.motorcycle": "motorcycle", "vehicle.bicycle": "bicycle",
    "movable_object.trafficcone": "traffic_cone", "movable_object.barrier": "barrier",
}  # fmt: skip
TRACKED = ("bicycle", "bus", "car", "motorcycle", "pedestrian", "trailer", "truck")
ATTRIBUTES = (
    "pedestrian.moving", "pedestrian.sitting_lying_down", "pedestrian.standing", "cycle.with_rider",
    "cycle.without_rider", "vehicle.moving", "vehicle.parked", "vehicle.stopped",
)  # fmt: skip
Tables = dict[str, list[dict[str, Any]]]


def quat(yaw: float) -> list[float]:
    return [float(np.cos(yaw / 2)), 0.0, 0.0, float(np.sin(yaw / 2))]


def write_dataset(root: Path, *, scenes: int, seed: int = 0, samples: int = 6, boxes: int = 12) -> Path:
    """Write a dataset of random scenes; scene ``k`` is also the split ``case_k``."""
    rng = np.random.default_rng(seed)
    tables: Tables = {
        name: [] for name in ("scene", "sample", "sample_data", "ego_pose", "instance", "sample_annotation")
    }
    tables["category"] = [{"token": f"c{n}", "name": name, "description": ""} for n, name in enumerate(CATEGORIES)]
    tables["attribute"] = [{"token": f"a{n}", "name": name, "description": ""} for n, name in enumerate(ATTRIBUTES)]
    tables["visibility"] = [{"token": "1", "level": "v0-40", "description": ""}]
    tables["sensor"] = [{"token": "lidar", "channel": "LIDAR_TOP", "modality": "lidar"}]
    tables["calibrated_sensor"] = [
        {
            "token": "k",
            "sensor_token": "lidar",
            "translation": [0.0, 0.0, 0.0],
            "rotation": quat(0),
            "camera_intrinsic": [],
        }
    ]
    tables["log"] = [{"token": "log", "logfile": "", "vehicle": "", "date_captured": "2026-01-01", "location": "x"}]
    tables["map"] = [{"token": "m", "log_tokens": ["log"], "category": "", "filename": "maps/x.png"}]
    for number in range(scenes):
        _scene(tables, rng, number, samples, boxes)
    folder = root / VERSION
    folder.mkdir(parents=True)
    (root / "maps").mkdir()
    (root / "maps" / "x.png").touch()
    for name, rows in tables.items():
        (folder / f"{name}.json").write_text(json.dumps(rows))
    (folder / "splits.json").write_text(json.dumps({f"case_{k}": [f"scene_{k}"] for k in range(scenes)}))
    return root


def _scene(tables: Tables, rng: np.random.Generator, number: int, samples: int, boxes: int) -> None:
    step_us = int(rng.choice([500_000, 500_000, 400_000, 2_000_000]))
    tokens = [f"s{number}_{k}" for k in range(samples)]
    first = {"first_sample_token": tokens[0], "last_sample_token": tokens[-1]}
    tables["scene"].append(
        {
            "token": f"scene{number}",
            "name": f"scene_{number}",
            "nbr_samples": samples,
            "log_token": "log",
            "description": "",
        }
        | first
    )
    origin = rng.uniform(-400, 400, 2)
    for k, token in enumerate(tokens):
        time = 1_600_000_000_000_000 + number * 100_000_000 + k * step_us
        chain = {"prev": tokens[k - 1] if k else "", "next": tokens[k + 1] if k + 1 < samples else ""}
        tables["sample"].append({"token": token, "timestamp": time, "scene_token": f"scene{number}", **chain})
        pose = {"translation": [*(origin + k).tolist(), 0.0], "rotation": quat(0.3 * k), "timestamp": time}
        tables["ego_pose"].append({"token": f"e_{token}", **pose})
        tables["sample_data"].append(
            {
                "token": f"d_{token}", "sample_token": token, "ego_pose_token": f"e_{token}", "calibrated_sensor_token": "k",
                "timestamp": time, "fileformat": "bin", "is_key_frame": True, "height": 0, "width": 0, "filename": "x",
                "prev": "", "next": "",
            }
        )  # fmt: skip
    for object_ in range(boxes):
        _object(tables, rng, number, object_, tokens, origin)


def _object(
    tables: Tables, rng: np.random.Generator, scene: int, number: int, tokens: list[str], origin: np.ndarray
) -> None:
    category = int(rng.integers(len(CATEGORIES))) if rng.random() < 0.6 else 0
    instance = f"i{scene}_{number}"
    begin = int(rng.integers(0, len(tokens) - 1))
    end = int(rng.integers(begin + 1, len(tokens) + 1))
    names = [f"b{scene}_{number}_{k}" for k in range(begin, end)]
    tables["instance"].append(
        {
            "token": instance, "category_token": f"c{category}", "nbr_annotations": len(names),
            "first_annotation_token": names[0], "last_annotation_token": names[-1],
        }
    )  # fmt: skip
    near = 60 if rng.random() < 0.2 else 20
    start, speed = origin + rng.uniform(-near, near, 2), rng.normal(0, 1.5, 2)
    size = rng.uniform(0.5, 5, 3).round(2 if rng.random() < 0.5 else 12).tolist()
    attribute = [f"a{rng.integers(len(ATTRIBUTES))}"] if rng.random() < 0.8 else []
    for k, name in enumerate(names):
        tables["sample_annotation"].append(
            {
                "token": name, "sample_token": tokens[begin + k], "instance_token": instance, "visibility_token": "1",
                "attribute_tokens": attribute, "translation": [*(start + speed * k).tolist(), float(rng.normal())],
                "size": size, "rotation": quat(float(rng.uniform(-4, 4))),
                "num_lidar_pts": int(rng.random() < 0.8), "num_radar_pts": 0,
                "prev": names[k - 1] if k else "", "next": names[k + 1] if k + 1 < len(names) else "",
            }
        )  # fmt: skip


def truth_of(root: Path, scene: int) -> dict[str, list[dict[str, Any]]]:
    """Return the annotations of one scene by sample, with their names."""
    tables = root / VERSION
    category = {row["token"]: row["name"] for row in json.loads((tables / "category.json").read_text())}
    kind = {row["token"]: category[row["category_token"]] for row in json.loads((tables / "instance.json").read_text())}
    annotations = {
        row["token"]: []
        for row in json.loads((tables / "sample.json").read_text())
        if row["scene_token"] == f"scene{scene}"
    }
    for row in json.loads((tables / "sample_annotation.json").read_text()):
        if row["sample_token"] in annotations and kind[row["instance_token"]] in NAMES:
            annotations[row["sample_token"]].append(row | {"name": NAMES[kind[row["instance_token"]]]})
    return annotations


def results_for(truth: dict[str, list[dict[str, Any]]], task: str, seed: int, kind: str) -> dict[str, Any]:
    """Return a result file for the truth of one scene with an irregularity ``kind``."""
    rng = np.random.default_rng(seed)
    results: dict[str, list[dict[str, Any]]] = {}
    for sample, rows in truth.items():
        boxes = results.setdefault(sample, [])
        if kind == "nothing in most samples" and rng.random() < 0.8:
            continue
        for row in rows:
            for _ in range(int(rng.integers(0, 3)) if kind != "as the truth" else 1):
                boxes.append(_box(rng, row, task, kind))
        if rows and kind != "as the truth":
            boxes += [_false_positive(rng, rows, task, kind) for _ in range(int(rng.integers(0, 5)))]
        if task == "tracking" and kind != "duplicate ids":
            boxes[:] = {box["tracking_id"]: box for box in boxes}.values()
        rng.shuffle(boxes)
    _make_odd(rng, results, task, kind)
    if not any(results.values()):  # the devkit cannot evaluate a file with no box at all
        sample, rows = next((s, r) for s, r in truth.items() if r)
        results[sample].append(_box(rng, rows[0], task, kind))
    return {"meta": {"use_camera": True}, "results": results}


def _make_odd(rng: np.random.Generator, results: dict[str, list[dict[str, Any]]], task: str, kind: str) -> None:
    """Change results in place, for kinds that concern scores, sizes and the presence of boxes."""
    boxes = [box for of_sample in results.values() for box in of_sample]
    for number, box in enumerate(boxes):
        if kind == "equal scores":
            box[f"{task}_score"] = 0.5
        elif kind == "scores at and below zero":
            box[f"{task}_score"] = float(rng.choice([0.0, -0.5, -1.0, 0.3]))
        elif kind == "single frames" and task == "tracking":
            box["tracking_id"] = f"alone{number}"
        elif kind == "flat boxes" and rng.random() < 0.1:
            box["size"][int(rng.integers(3))] = 0.0
    if kind == "one box":
        for sample, of_sample in results.items():
            results[sample] = of_sample[:1] if boxes and of_sample and of_sample[0] is boxes[0] else []
    if kind == "far from all":
        for box in boxes:
            box["translation"][0] += 15.0


def _box(rng: np.random.Generator, row: dict[str, Any], task: str, kind: str) -> dict[str, Any]:
    spread = {"as the truth": 0.0, "coarse grid": 0.0}.get(kind, float(rng.choice([0.0, 0.3, 1.0, 2.5])))
    position = np.array(row["translation"]) + rng.normal(0, 1, 3) * spread
    if kind == "coarse grid":
        position = np.round(position)
    score = float(rng.random())
    if kind in {"ties", "coarse grid"}:
        score = float(rng.integers(0, 3)) / 4
    turn = rng.normal(0, 0.5) if kind != "as the truth" else 0.0
    yaw = 2 * np.arctan2(row["rotation"][3], row["rotation"][0]) + turn
    box: dict[str, Any] = {
        "sample_token": row["sample_token"], "translation": position.tolist(),
        "size": (np.array(row["size"]) * (1 if kind == "as the truth" else rng.uniform(0.7, 1.3, 3))).tolist(),
        "rotation": quat(float(yaw)), "velocity": rng.normal(0, 1, 2).tolist(),
    }  # fmt: skip
    if kind == "unknown velocities" and rng.random() < 0.5:
        box["velocity"] = [float("nan"), float("nan")]
    if task == "detection":
        return box | {
            "detection_name": row["name"] if rng.random() < 0.9 else "car", "detection_score": score,
            "attribute_name": str(rng.choice(["", "vehicle.moving", "pedestrian.moving", "cycle.with_rider"])),
        }  # fmt: skip
    track = row["instance_token"] if rng.random() < 0.85 else f"t{rng.integers(0, 6)}"
    name = row["name"] if row["name"] in TRACKED else "car"
    if kind != "duplicate ids":
        track = f"{track}/{rng.integers(0, 2)}" if rng.random() < 0.3 else track
    return box | {"tracking_name": name, "tracking_score": score, "tracking_id": track}


def _false_positive(rng: np.random.Generator, rows: list[dict[str, Any]], task: str, kind: str) -> dict[str, Any]:
    box = _box(rng, rows[int(rng.integers(len(rows)))], task, kind)
    box["translation"] = (np.array(box["translation"]) + [*rng.uniform(-30, 30, 2), 0]).tolist()
    if task == "tracking":
        box["tracking_id"] = f"u{rng.integers(0, 5)}"
    return box


KINDS = (
    "random", "ties", "coarse grid", "as the truth", "nothing in most samples", "unknown velocities", "duplicate ids",
)  # fmt: skip
MORE_KINDS = ("equal scores", "scores at and below zero", "single frames", "flat boxes", "one box", "far from all")
