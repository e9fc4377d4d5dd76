"""Recall by how many drones see a box, on tables written down by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from uavsim.errors import InputError
from uavsim.evaluate.collaborative import recall_by_group

VERSION = "v1.0-mini"


def box(token: str, x: float, drones: list[int], *, instance: str = "car") -> dict[str, Any]:
    return {
        "token": token, "sample_token": "s0", "instance_token": instance, "translation": [x, 0.0, 1.0],
        "visibility_token": "4" if drones else "1", "uav_seen_by": drones,
    }  # fmt: skip


def write(root: Path, boxes: list[dict[str, Any]]) -> Path:
    tables = {
        "category": [{"token": "c", "name": "vehicle.car"}, {"token": "b", "name": "vehicle.bus.rigid"}],
        "instance": [{"token": "car", "category_token": "c"}, {"token": "bus", "category_token": "b"}],
        "sensor": [{"token": "bev", "channel": "LIDAR_TOP"}],
        "calibrated_sensor": [{"token": "k", "sensor_token": "bev"}],
        "sample_data": [{"sample_token": "s0", "calibrated_sensor_token": "k", "ego_pose_token": "e"}],
        "ego_pose": [{"token": "e", "translation": [10.0, 0.0, 0.0]}],
        "sample_annotation": boxes,
    }
    (root / VERSION).mkdir()
    for name, rows in tables.items():
        (root / VERSION / f"{name}.json").write_text(json.dumps(rows))
    return root


def results(root: Path, places: list[tuple[str, float, float]]) -> Path:
    found = [{"detection_name": n, "detection_score": s, "translation": [x, 0.0, 0.0]} for n, x, s in places]
    file = root / "results.json"
    file.write_text(json.dumps({"results": {"s0": found}}))
    return file


def test_boxes_are_grouped_by_the_drones_that_see_them(tmp_path: Path) -> None:
    boxes = [
        box("a", 0, [0]),
        box("b", 10, [0, 1, 2]),
        box("c", 20, [3]),
        box("unseen", 30, []),
        box("d", 50, [1, 2, 4]),
    ]
    root = write(tmp_path, boxes)
    told = recall_by_group(
        root, VERSION, results(tmp_path, [("car", 1.0, 0.9), ("car", 10.5, 0.9), ("car", 52.5, 0.9)])
    )
    assert told["by_drones"] == {
        "1": {"boxes": 2, "found": 1, "recall": 0.5},
        "3": {"boxes": 2, "found": 1, "recall": 0.5},  # 2.5 m is too far
    }
    assert told["by_distance_m"]["0-25"] == {"boxes": 3, "found": 2, "recall": 0.666667}
    assert told["by_visibility"]["4"]["boxes"] == 4


def test_one_prediction_finds_one_box_of_its_class(tmp_path: Path) -> None:
    root = write(tmp_path, [box("a", 0, [0]), box("b", 1, [0]), box("c", 1, [0], instance="bus")])
    assert recall_by_group(root, VERSION, results(tmp_path, [("car", 0.5, 0.9)]))["by_drones"]["1"]["found"] == 1
    both = results(tmp_path, [("car", 0.9, 0.9), ("car", 1.6, 0.9)])  # the near one must leave b to the other
    assert recall_by_group(root, VERSION, both)["by_drones"]["1"]["found"] == 2
    assert recall_by_group(root, VERSION, both, score=0.95)["by_drones"]["1"]["found"] == 0


def test_tracks_and_foreign_tables_are_refused_in_words(tmp_path: Path) -> None:
    root = write(tmp_path, [{k: v for k, v in box("a", 0, [0]).items() if k != "uav_seen_by"}])
    with pytest.raises(InputError, match="uav_seen_by"):
        recall_by_group(root, VERSION, results(tmp_path, [("car", 0.0, 0.9)]))
    tracks = tmp_path / "tracks.json"
    tracks.write_text(json.dumps({"results": {"s0": [{"tracking_name": "car"}]}}))
    with pytest.raises(InputError, match="detections"):
        recall_by_group(root, VERSION, tracks)
    tracks.write_text("[]")
    with pytest.raises(InputError, match="result file"):
        recall_by_group(root, VERSION, tracks)
