"""What a swarm adds: how much of what one, several or all drones see is found by a detector.

The devkit scores a result as a whole. Here each ground-truth box is put into the group of how many drones see it (the field
``uav_seen_by``), how far it is from drone 0 and how much of it is seen; recall is told for each group. A box is found when a
prediction of its class lies within 2 m of its centre on the ground, one prediction for one box (the assignment with the
least total distance).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from uavsim.dataset.tables import iter_rows
from uavsim.errors import InputError
from uavsim.files.parse import reading
from uavsim.records.classes import detection_class
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict

__all__ = ["recall_by_group"]

FOUND_WITHIN_M: Final = 2.0
_DISTANCES_M: Final = (0.0, 25.0, 50.0, 75.0, 102.4)


@dataclass(frozen=True, slots=True, eq=False)
class _Truth:
    """Ground truth of the samples that the results are about, (N,) each; only boxes that some drone sees."""

    sample: list[str]
    name: list[str]
    place_m: FloatArray
    drones: IntArray
    visibility: list[str]
    away_m: FloatArray


def recall_by_group(root: Path, version: str, predictions: Path, *, score: float = 0.0) -> JsonDict:
    """Return recall by number of drones that see a box, by distance from drone 0, and by visibility level.

    Args:
        root: a data set of ours, strict dialect.
        version: its version folder.
        predictions: detections in nuScenes' result format.
        score: predictions below are left out.

    Returns:
        ``{"by_drones": {"1": {"boxes", "found", "recall"}, ...}, "by_distance_m": ..., "by_visibility": ...}``.

    Raises:
        InputError: not a result file, or the data set does not tell which drones see a box.
    """
    with reading(predictions):
        return _recall_by_group(root, version, predictions, score=score)


def _recall_by_group(root: Path, version: str, predictions: Path, *, score: float) -> JsonDict:
    results = _results(predictions)
    truth = _truth(root / version, set(results))
    found = np.zeros(len(truth.sample), bool)
    for rows, boxes in _by_sample(truth, results):
        found[rows] = _found(truth, rows, [box for box in boxes if box["detection_score"] >= score])
    bins = np.digitize(truth.away_m, _DISTANCES_M) - 1
    spans = [f"{low:g}-{high:g}" for low, high in pairwise(_DISTANCES_M)]
    reach = [spans[b] if 0 <= b < len(spans) else f"over {_DISTANCES_M[-1]:g}" for b in bins.tolist()]
    return {
        "found_within_m": FOUND_WITHIN_M,
        "by_drones": _recall([str(n) for n in truth.drones.tolist()], found),
        "by_distance_m": _recall(reach, found),
        "by_visibility": _recall(truth.visibility, found),
    }


def _results(path: Path) -> dict[str, list[JsonDict]]:
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        if any(
            "detection_name" not in box or "detection_score" not in box for found in results.values() for box in found
        ):
            raise InputError(f"{path}: groups are told for detections, these are none")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a result file in nuScenes' format: {error}") from error
    return dict(results)


def _truth(tables: Path, samples: set[str]) -> _Truth:
    category = {row["token"]: detection_class(row["name"]) or "" for row in iter_rows(tables / "category.json")}
    name_of = {row["token"]: category[row["category_token"]] for row in iter_rows(tables / "instance.json")}
    ego = _egos(tables, samples)
    boxes = [row for row in iter_rows(tables / "sample_annotation.json") if row["sample_token"] in samples]
    if boxes and "uav_seen_by" not in boxes[0]:
        raise InputError(f"{tables}: the boxes do not tell which drones see them (uav_seen_by)")
    boxes = [row for row in boxes if row["uav_seen_by"] and name_of[row["instance_token"]]]
    place = np.array([row["translation"][:2] for row in boxes], dtype=np.float64).reshape(-1, 2)
    centre = np.array([ego[row["sample_token"]] for row in boxes], dtype=np.float64).reshape(-1, 2)
    return _Truth(
        sample=[row["sample_token"] for row in boxes],
        name=[name_of[row["instance_token"]] for row in boxes],
        place_m=place,
        drones=np.array([len(row["uav_seen_by"]) for row in boxes], dtype=np.int64),
        visibility=[row["visibility_token"] for row in boxes],
        away_m=np.linalg.norm(place - centre, axis=1),
    )


def _egos(tables: Path, samples: set[str]) -> dict[str, list[float]]:
    """Return where drone 0 is on the ground: the ego pose of LIDAR_TOP, the range centre of evaluations."""
    bev = {row["token"] for row in iter_rows(tables / "sensor.json") if row["channel"] == "LIDAR_TOP"}
    calibrated = {row["token"] for row in iter_rows(tables / "calibrated_sensor.json") if row["sensor_token"] in bev}
    pose_of = {
        row["ego_pose_token"]: row["sample_token"]
        for row in iter_rows(tables / "sample_data.json")
        if row["calibrated_sensor_token"] in calibrated and row["sample_token"] in samples
    }
    poses = (row for row in iter_rows(tables / "ego_pose.json") if row["token"] in pose_of)
    return {pose_of[row["token"]]: row["translation"][:2] for row in poses}


def _by_sample(truth: _Truth, results: dict[str, list[JsonDict]]) -> Iterator[tuple[IntArray, list[JsonDict]]]:
    rows: dict[str, list[int]] = {}
    for row, sample in enumerate(truth.sample):
        rows.setdefault(sample, []).append(row)
    for sample, own in rows.items():
        yield np.array(own, dtype=np.int64), results[sample]


def _found(truth: _Truth, rows: IntArray, boxes: list[Any]) -> BoolArray:
    """Tell which boxes of one sample have a prediction of their own class near by."""
    found = np.zeros(len(rows), bool)
    names = np.array([truth.name[row] for row in rows.tolist()])
    told = np.array([box["detection_name"] for box in boxes])
    places = np.array([box["translation"][:2] for box in boxes], dtype=np.float64).reshape(-1, 2)
    for name in sorted(set(names.tolist()) & set(told.tolist())):
        own, theirs = np.flatnonzero(names == name), np.flatnonzero(told == name)
        distance = cdist(truth.place_m[rows[own]], places[theirs])
        cost = np.where(distance <= FOUND_WITHIN_M, distance - 1e3, 0.0)  # a match is worth more than any distance
        left, right = linear_sum_assignment(cost)
        found[own[left[distance[left, right] <= FOUND_WITHIN_M]]] = True
    return found


def _recall(groups: list[str], found: BoolArray) -> JsonDict:
    table: JsonDict = {}
    for group in sorted(set(groups)):
        own = found[np.array([g == group for g in groups], bool)]
        table[group] = {"boxes": len(own), "found": int(own.sum()), "recall": round(float(own.mean()), 6)}
    return table
