"""Run the unmodified DetectionEval and TrackingEval of the nuScenes devkit on a dataset's own split.

This module runs in the devkit environment. The devkit reads custom splits from ``<version>/splits.json`` only; to evaluate
scenes without a split, it reads the dataset through a folder of links with an additional split.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nuscenes.eval.common.config import config_factory
from nuscenes.eval.detection.data_classes import DetectionConfig
from nuscenes.eval.detection.evaluate import DetectionEval
from nuscenes.eval.detection.utils import category_to_detection_name
from nuscenes.eval.tracking.data_classes import TrackingConfig
from nuscenes.eval.tracking.evaluate import TrackingEval
from nuscenes.eval.tracking.utils import category_to_tracking_name
from nuscenes.nuscenes import NuScenes

EVALUATION_RANGE_M = 102.4  # UAV3D's square; the devkit's 30-50 m would cut the view of a drone at 60 m
OWN_SPLIT = "judge_split"
CAMERA_ONLY = {"use_camera": True, "use_lidar": False, "use_radar": False, "use_map": False, "use_external": False}


@contextlib.contextmanager
def linked_with_split(dataroot: Path, version: str, scenes: list[str], work: Path) -> Iterator[Path]:
    """Yield a data root of links with a split ``OWN_SPLIT`` of the given scenes."""
    root = work / "root"
    tables = root / version
    tables.mkdir(parents=True)
    for entry in dataroot.iterdir():
        if entry.name != version:
            (root / entry.name).symlink_to(entry.resolve())
    for table in (dataroot / version).glob("*.json"):
        if table.name != "splits.json":
            (tables / table.name).symlink_to(table.resolve())
    (tables / "splits.json").write_text(json.dumps({OWN_SPLIT: scenes}))
    yield root


def evaluate(
    nusc: NuScenes, result_file: Path, work: Path, *, task: str, version: str, root: Path, split: str
) -> dict[str, Any]:
    """Run DetectionEval or TrackingEval on a split of the data root."""
    if task == "tracking":
        return tracking(root, version, result_file, split, work)
    previous, nusc.dataroot = nusc.dataroot, str(root)
    report = detection(nusc, result_file, split, work)
    nusc.dataroot = previous
    return report


def samples_of(nusc: NuScenes, scenes: list[str]) -> list[str]:
    """Return the sample tokens of the scenes, in table order."""
    scene_tokens = {scene["token"] for scene in nusc.scene if scene["name"] in set(scenes)}
    return [sample["token"] for sample in nusc.sample if sample["scene_token"] in scene_tokens]


def truth_as_predictions(nusc: NuScenes, samples: list[str], *, task: str) -> dict[str, Any]:
    """Return the annotations that the evaluation counts (seen by at least one sensor) as the content of a result file."""
    attributes = {row["token"]: row["name"] for row in nusc.attribute}
    name_of = category_to_detection_name if task == "detection" else category_to_tracking_name
    results: dict[str, list[dict[str, Any]]] = {}
    for sample in samples:
        boxes = results.setdefault(sample, [])
        for token in nusc.get("sample", sample)["anns"]:
            annotation = nusc.get("sample_annotation", token)
            name = name_of(annotation["category_name"])
            if name is None or annotation["num_lidar_pts"] + annotation["num_radar_pts"] == 0:
                continue
            box = {key: annotation[key] for key in ("sample_token", "translation", "size", "rotation")}
            box["velocity"] = list(nusc.box_velocity(token)[:2])
            if task == "detection":
                attribute = annotation["attribute_tokens"][:1]
                box |= {"detection_name": name, "detection_score": 1.0}
                box |= {"attribute_name": attributes[attribute[0]] if attribute else ""}
            else:
                box |= {"tracking_name": name, "tracking_score": 1.0, "tracking_id": annotation["instance_token"]}
            boxes.append(box)
    return {"meta": CAMERA_ONLY, "results": results}


def _config(name: str) -> dict[str, Any]:
    content: dict[str, Any] = config_factory(name).serialize()
    content["class_range"] = dict.fromkeys(content["class_range"], EVALUATION_RANGE_M)
    content["max_boxes_per_sample"] = 2000
    return content


def detection(nusc: NuScenes, result_file: Path, split: str, work: Path) -> dict[str, Any]:
    """Run DetectionEval; ``mean_ap_present`` averages the classes with ground truth, ``devkit_map_of_10`` all ten."""
    config = DetectionConfig.deserialize(_config("detection_cvpr_2019"))
    evaluation = DetectionEval(nusc, config, str(result_file), split, str(work / "detection"), verbose=False)
    metrics, _ = evaluation.evaluate()
    counts: dict[str, int] = {}
    for box in evaluation.gt_boxes.all:
        counts[box.detection_name] = counts.get(box.detection_name, 0) + 1
    present = sorted(counts)
    per_class: dict[str, dict[str, Any]] = {
        name: {
            "boxes": counts[name],
            "ap": float(metrics.mean_dist_aps[name]),
            "errors": {error: _number(metrics.get_label_tp(name, error)) for error in TP_ERRORS},
        }
        for name in present
    }
    return {
        "range_m": EVALUATION_RANGE_M,
        "classes": per_class,
        "mean_ap_present": _mean([row["ap"] for row in per_class.values()]),
        "devkit_map_of_10": float(metrics.mean_ap),
        "devkit_nds": float(metrics.nd_score),
    }


TP_ERRORS = ("trans_err", "scale_err", "orient_err", "vel_err", "attr_err")


def tracking(root: Path, version: str, result_file: Path, split: str, work: Path) -> dict[str, Any]:
    """Run TrackingEval; the report has the classes with ground truth."""
    config = TrackingConfig.deserialize(_config("tracking_nips_2019"))
    evaluation = TrackingEval(
        config, str(result_file), split, str(work / "tracking"), version, str(root), verbose=False
    )
    metrics, _ = evaluation.evaluate()
    values = metrics.label_metrics
    metric_names = ("gt", "amota", "amotp", "mota", "recall", "ids", "frag", "fp", "fn")
    rows = {name: {key: _number(values[key][name]) for key in metric_names} for name in config.class_names}
    present = {name: row for name, row in rows.items() if row["gt"]}
    return {
        "range_m": EVALUATION_RANGE_M,
        "classes": present,
        "mean_amota_present": _mean([row["amota"] or 0.0 for row in present.values()]),
        "identity_switches": sum(row["ids"] or 0.0 for row in present.values()),
    }


def _number(value: Any) -> float | None:
    number = float(value)
    return number if number == number and abs(number) != float("inf") else None


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


@contextlib.contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Redirect stdout, to which the devkit prints its progress, to stderr."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
