"""Detections in ignore regions, by hand and by the command's functions."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluate.synthetic import results_for, truth_of, write_dataset
from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.ignored import IgnoredRegions
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.nuscenes.detection import CLASSES
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import read_truth

DOWN = [0.0, 1.0, 0.0, 0.0]  # half a turn about x: looks down, the image's x is the map's x


def _table(folder: Path, name: str, rows: list[dict]) -> None:
    (folder / f"{name}.json").write_text(json.dumps(rows))


def _with_region(root: Path, box: list[int], *, position_m: list[float], size_px: int = 100) -> str:
    """Add a camera to the first sample that looks down from 10 m above a place, with 10 pixels per metre."""
    (tables,) = (path.parent for path in root.glob("*/sample.json"))
    rows = {
        name: json.loads((tables / f"{name}.json").read_text())
        for name in ("sample_data", "ego_pose", "calibrated_sensor")
    }
    matrix = [[100.0, 0, size_px / 2], [0, 100.0, size_px / 2], [0, 0, 1]]
    mount = {
        "token": "eye",
        "sensor_token": "eye",
        "translation": [0, 0, 0],
        "rotation": [1, 0, 0, 0],
        "camera_intrinsic": matrix,
    }
    pose = {
        "token": "above",
        "timestamp": 0,
        "translation": [position_m[0], position_m[1], position_m[2] + 10],
        "rotation": DOWN,
    }
    first = json.loads((tables / "sample.json").read_text())[0]["token"]
    shot = rows["sample_data"][0] | {"token": "shot", "sample_token": first, "is_key_frame": True}
    shot |= {"ego_pose_token": "above", "calibrated_sensor_token": "eye"}
    for name, row in (("sample_data", shot), ("ego_pose", pose), ("calibrated_sensor", mount)):
        _table(tables, name, [*rows[name], row])
    region = {"token": "r", "sample_data_token": "shot", "box": box, "pixels": 9, "semantic_tag": 14}
    _table(tables, "ignore_region", [region])
    return first


def test_what_projects_into_a_region_is_left_out_unless_a_true_box_is_near(tmp_path: Path) -> None:
    root = write_dataset(tmp_path, scenes=1)
    _with_region(root, [40, 40, 60, 60], position_m=[500.0, 500.0, 0.0])  # a metre to each side of (500, 500)
    (version,) = (path.parent.name for path in root.glob("*/sample.json"))
    truth = read_truth(root, version, labels=CLASSES)
    places = np.array([[500.9, 500, 0], [501.1, 500, 0], [500, 499.1, 0], [500, 500, 30.0]])
    found = Boxes.make(np.zeros(4), np.zeros(4), places)
    assert IgnoredRegions(root / version, truth)(found).centre_m[:, 0].tolist() == [501.1, 500.0]  # the last is behind
    elsewhere = Boxes.make(np.ones(1), np.zeros(1), places[:1])
    assert len(IgnoredRegions(root / version, truth)(elsewhere)) == 1
    near = replace(truth, boxes=Boxes.make(np.zeros(1), np.zeros(1), np.array([[502.0, 500, 0]])))
    assert len(IgnoredRegions(root / version, near)(found)) == 3


@pytest.mark.parametrize("benchmark", ["nuscenes-detection", "nuscenes-tracking"])
def test_official_counts_what_is_found_in_regions_and_corrected_does_not(tmp_path: Path, benchmark: str) -> None:
    root = write_dataset(tmp_path / "data", scenes=1)
    task = benchmark.partition("-")[2]
    results = results_for(truth_of(root, 0), task, 1, "plain")
    box = next(boxes[0] for boxes in results["results"].values() if boxes)
    position_m = [box["translation"][0] + 15, box["translation"][1], 0.0]
    first = _with_region(root, [40, 40, 60, 60], position_m=position_m)
    extra = box | {"sample_token": first, "translation": position_m, f"{task}_score": 1.0, f"{task}_name": "car"}
    extra |= {"attribute_name": ""} if task == "detection" else {}

    def scores(boxes: list[dict], mode: str = "official", **options: str) -> str:
        written = results | {"results": results["results"] | {first: results["results"][first] + boxes}}
        (path := tmp_path / "results.json").write_text(json.dumps(written))
        found = evaluate(benchmark, EvaluationRequest(root, path, mode, options={"range": "300"} | options)).as_json()
        return json.dumps({name: value for name, value in found.items() if name != "ignored_detections"})

    clean, with_it = scores([]), scores([extra])
    assert with_it != clean
    assert scores([extra], ignore_regions="no") == with_it
    assert scores([extra], ignore_regions="yes") == clean
    assert scores([extra], "corrected") == scores([], "corrected")
    with pytest.raises(InputError, match="must be yes or no"):
        scores([], ignore_regions="perhaps")
