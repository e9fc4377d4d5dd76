"""Our nuScenes evaluation beside the devkit's on one result; ``python -m bench.evaluate FOLDER TASK`` scores one."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.rows import ROOT, Row, in_own_process
from uavsim.evaluate.metrics import evaluate
from uavsim.evaluate.outcome import EvaluationRequest

VERSION, SPLIT = "v1.0-trainval", "bench_split"
SAMPLES_PER_SCENE, BOXES, PREDICTIONS = 20, 165, 300
BESIDE_DEVKIT = {"detection": 40, "tracking": 20}  # samples; the devkit needs seconds for each
GROWTH = (400, 1600)


def rows() -> Iterator[Row]:
    """Compare with the devkit, then let the number of samples grow fourfold."""
    for task, samples in BESIDE_DEVKIT.items():
        with tempfile.TemporaryDirectory() as name:
            folder = write_case(Path(name), task, samples)
            ours = in_own_process("evaluate", str(folder), task)
            theirs = _devkit_cpu_s(folder, task)
        how = (
            f"processor time, {samples} samples, {BOXES} boxes and {PREDICTIONS} predictions each, from file to figures"
        )
        yield Row(f"evaluate {task}: devkit", theirs, "s", how)
        yield Row(f"evaluate {task}: ours", ours["cpu_s"], "s", how)
        yield Row(f"evaluate {task}: times as fast as the devkit", theirs / ours["cpu_s"], "x", how)
    for task in BESIDE_DEVKIT:
        told = []
        for samples in GROWTH:
            with tempfile.TemporaryDirectory() as name:
                told.append(in_own_process("evaluate", str(write_case(Path(name), task, samples)), task))
        how = f"processor time, {GROWTH[0]} and {GROWTH[1]} samples, {BOXES} boxes and {PREDICTIONS} predictions each"
        per_sample = [run["cpu_s"] / samples for run, samples in zip(told, GROWTH, strict=True)]
        yield Row(f"evaluate {task}: a sample", 1e3 * per_sample[1], "ms", f"{GROWTH[1]} samples")
        yield Row(f"evaluate {task}: growth a sample", per_sample[1] / per_sample[0], "x", f"{how}; linear is 1")
        yield Row(f"evaluate {task}: peak memory", told[1]["peak_mb"], "MB", f"{GROWTH[1]} samples")


def write_case(folder: Path, task: str, samples: int) -> Path:
    """Write a data set and a result with noise, duplicates and strangers; whole scenes."""
    tables = folder / VERSION
    tables.mkdir(parents=True)
    rng = np.random.default_rng(0)
    scenes = samples // SAMPLES_PER_SCENE
    small: dict[str, list[dict[str, Any]]] = {
        "category": [{"token": "c", "name": "vehicle.car", "description": ""}],
        "attribute": [{"token": "a", "name": "vehicle.moving", "description": ""}],
        "visibility": [{"token": "4", "level": "v80-100", "description": ""}],
        "sensor": [{"token": "s", "channel": "LIDAR_TOP", "modality": "lidar"}],
        "calibrated_sensor": [
            {
                "token": "k",
                "sensor_token": "s",
                "translation": [0, 0, 0],
                "rotation": [1, 0, 0, 0],
                "camera_intrinsic": [],
            }
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
    told: dict[str, list[dict[str, Any]]] = {
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
        told["sample"].append(
            {"token": token, "timestamp": time_us, "scene_token": f"sc{scene}", "prev": before, "next": after}
        )
        told["ego_pose"].append(
            {"token": token, "timestamp": time_us, "translation": [0, 0, 0], "rotation": [1, 0, 0, 0]}
        )
        told["sample_data"].append(
            {
                "token": token, "sample_token": token, "ego_pose_token": token, "calibrated_sensor_token": "k",
                "timestamp": time_us, "fileformat": "bin", "is_key_frame": True, "height": 0, "width": 0, "filename": "x",
                "prev": "", "next": "",
            }
        )  # fmt: skip
        now = place + speed * 0.5 * k
        for n, (x, y) in enumerate(now.tolist()):
            told["sample_annotation"].append(
                {
                    "token": f"{token}_{n}", "sample_token": token, "instance_token": f"i{scene}_{n}",
                    "visibility_token": "4", "attribute_tokens": ["a"], "translation": [x, y, 1.0], "size": [2, 4.5, 1.5],
                    "rotation": [1, 0, 0, 0], "num_lidar_pts": 9, "num_radar_pts": 0,
                    "prev": f"{before}_{n}" if before else "", "next": f"{after}_{n}" if after else "",
                }
            )  # fmt: skip
        comma = "" if last and k + 1 == len(tokens) else ","
        results.write(f"{json.dumps(token)}:{json.dumps(_predictions(rng, token, now, task))}{comma}\n")
    return told


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


def _devkit_cpu_s(folder: Path, task: str) -> float:
    """Return the processor time of the devkit's own evaluation, from file to figures, its start included as ours is."""
    cases = folder / "cases.json"
    cases.write_text(json.dumps([{"task": task, "split": SPLIT, "results": str(folder / "results.json")}]))
    command = [
        ROOT / ".venv-judge/bin/python",
        "-W",
        "ignore",
        ROOT / "judge/reference_scores.py",
        folder,
        VERSION,
        cases,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"the devkit ended with code {done.returncode}: {done.stderr.strip()[-200:]}")
    if "error" in json.loads(done.stdout)[0]:
        raise RuntimeError(f"the devkit refuses the case: {json.loads(done.stdout)[0]['error']}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Score the case in a folder; print processor seconds, the start included, and peak memory."""
    folder, task = Path(sys.argv[1]), sys.argv[2]
    outcome = evaluate(f"nuscenes-{task}", EvaluationRequest(folder, folder / "results.json", split=SPLIT))
    used = resource.getrusage(resource.RUSAGE_SELF)
    scores = {name: outcome.scores[name] for name in outcome.headline[:2]}
    told = {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024, **scores}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
