"""Score tracks on a dataset: ``nuscenes-tracking``."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import BoolArray, JsonDict
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.frame_check import FrameCheck
from uavsim_benchmarks.evaluate.nuscenes import tracking
from uavsim_benchmarks.evaluate.nuscenes.result_input import (
    evaluated,
    open_truth,
    ranges_m,
    reader_of,
    scored_samples,
)
from uavsim_benchmarks.evaluate.nuscenes.tracks import fill_tracks
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, Row, Table
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth
from uavsim_benchmarks.evaluate.scenes import found_by_scene, rows_by_scene

_COLUMNS = ("gt", "amota", "amotp", "recall", "mota", "motp", "ids", "frag")


def evaluate_tracking(request: EvaluationRequest) -> Outcome:
    """Score tracks of all seven classes.

    Raises:
        InputError: the results are refused.
        DatasetError: the dataset is damaged.
    """
    config = tracking.TrackingConfig()
    config = replace(config, range_m=ranges_m(request, config.range_m))
    truth = open_truth(request, tracking.CLASSES)
    reader = reader_of(request, truth, tracking.CLASSES, task="tracking", regions=request.mode == "corrected")
    if request.mode == "corrected":
        config = replace(config, step_s=_usual_step_s(truth))
    limits = np.array([config.range_m[name] for name in tracking.CLASSES])
    true_boxes = evaluated(truth.boxes, truth, limits, tracking.CLASSES)
    _refuse_duplicate_instances(true_boxes, request.truth)
    truth = replace(truth, boxes=Boxes.none())  # frees memory
    check = FrameCheck(true_boxes, truth)

    def counted(block: Boxes) -> Boxes:
        check.add(block)
        return evaluated(block, truth, limits, tracking.CLASSES)

    def scored() -> BoolArray:
        check.raise_if_wrong(request.results)
        return scored_samples(request, truth, reader)

    rows = rows_by_scene(true_boxes, truth.scene)
    sample_columns = (truth.scene, truth.frame, truth.time_us)
    with tracking.TrackingCounter(config, mode=request.mode) as counter:
        for scene, found in found_by_scene(reader, truth, keep=counted, scored=scored):
            counter.add(
                fill_tracks(true_boxes.take(rows(scene)), *sample_columns, mean_scores=False, mode=request.mode),
                fill_tracks(found, *sample_columns, mean_scores=True, mode=request.mode),
            )
        scores = counter.score()
    details = {
        "split": request.split,
        "range_m": config.range_m,
        "samples": len(reader.samples),
        "step_s": config.step_s,
    }
    return _tracking_outcome(request.mode, scores, details | {"samples_ignored": reader.ignored})


def _refuse_duplicate_instances(boxes: Boxes, root: Path) -> None:
    order = np.lexsort((boxes.track, boxes.sample))
    if np.any((np.diff(boxes.sample[order]) == 0) & (np.diff(boxes.track[order]) == 0)):
        raise InputError(f"{root}: an instance has two boxes in one sample; nuScenes allows one")


def _usual_step_s(truth: Truth) -> float:
    order = np.lexsort((truth.frame, truth.scene))
    same = np.diff(truth.scene[order]) == 0
    steps = np.diff(truth.time_us[order])[same]
    return float(np.median(steps)) * 1e-6 if len(steps) else tracking.TrackingConfig().step_s


def _tracking_outcome(mode: str, scores: tracking.TrackingScores, details: JsonDict) -> Outcome:
    rows: tuple[Row, ...] = tuple(
        (name, *(row[m] for m in _COLUMNS)) for name, row in scores.by_class.items() if row["gt"] > 0
    )
    labels = {metric: {name: row[metric] for name, row in scores.by_class.items()} for metric in tracking.METRICS}
    curves = []
    for metric in ("motar", "mota", "motp", "ids", "fp", "fn"):
        lines = {name: (curve["recall"], curve[metric]) for name, curve in scores.curves.items() if metric in curve}
        if lines:
            curves.append(Curve(f"{metric} along recall", "recall", metric, lines))
    return Outcome(
        "nuscenes-tracking",
        mode,
        {**details, **scores.overall, "label_metrics": labels},
        ("amota", "amotp", "recall", "mota", "motp", "ids", "frag"),
        (Table("classes with ground truth", ("class", *_COLUMNS), rows),),
        tuple(curves),
    )
