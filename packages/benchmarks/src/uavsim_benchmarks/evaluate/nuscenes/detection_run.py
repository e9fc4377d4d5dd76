"""Score detections on a dataset: ``nuscenes-detection``."""

from dataclasses import replace

import numpy as np

from uavsim.typing import JsonDict
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.nuscenes import detection
from uavsim_benchmarks.evaluate.nuscenes.result_input import (
    blocks_with_truth,
    evaluated,
    open_truth,
    ranges_m,
    reader_of,
)
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, Row, Table, histogram

_SHORT = {"trans_err": "mate", "scale_err": "mase", "orient_err": "maoe", "vel_err": "mave", "attr_err": "maae"}
_HISTOGRAMS = (
    ("translation errors", "distance of the centres on the ground (m)", 2.0),
    ("scale errors", "1 - overlap of the sizes", 1.0),
    ("orientation errors", "difference of the headings (rad)", float(np.pi)),
    ("velocity errors", "difference of the velocities (m/s), the last bin holds all larger ones", 5.0),
)


def evaluate_detection(request: EvaluationRequest) -> Outcome:
    """Score detections of all ten classes.

    Raises:
        InputError: the results are refused.
        DatasetError: the dataset is damaged.
    """
    config = detection.DetectionConfig()
    config = replace(config, range_m=ranges_m(request, config.range_m))
    truth = open_truth(request, detection.CLASSES)
    reader = reader_of(request, truth, detection.CLASSES, regions=request.mode == "corrected")
    limits = np.array([config.range_m[name] for name in detection.CLASSES])
    true_boxes = evaluated(truth.boxes, truth, limits, detection.CLASSES)
    truth = replace(truth, boxes=Boxes.none())  # frees memory
    counter = detection.DetectionCounter(config, mode=request.mode)

    def kept(block: Boxes) -> Boxes:
        return evaluated(block, truth, limits, detection.CLASSES)

    for true, found in blocks_with_truth(request, truth, reader, true_boxes, kept):
        counter.add(true, found)
    scores = counter.score()
    details = {"split": request.split, "range_m": config.range_m, "samples": len(reader.samples)}
    return detection_outcome(
        "nuscenes-detection",
        request.mode,
        scores,
        details | {"samples_ignored": reader.ignored, "ignored_detections": reader.left_out},
    )


def detection_outcome(benchmark: str, mode: str, scores: detection.DetectionScores, details: JsonDict) -> Outcome:
    """Return detection scores under their published names."""
    flat = {_SHORT[name]: value for name, value in scores.mean_tp_errors.items()}
    mean = {name: float(np.mean(list(aps.values()))) for name, aps in scores.aps.items()}
    summary: JsonDict = {
        **details,
        "mean_ap": scores.mean_ap,
        "nds": scores.nds,
        **flat,
        "tp_errors": scores.mean_tp_errors,
        "tp_scores": {name: max(0.0, 1.0 - value) for name, value in scores.mean_tp_errors.items()},
        "label_aps": {name: {str(distance): ap for distance, ap in aps.items()} for name, aps in scores.aps.items()},
        "mean_dist_aps": mean,
        "label_tp_errors": scores.tp_errors,
        "boxes": scores.boxes,
    }
    rows: tuple[Row, ...] = tuple(
        (name, scores.boxes[name], mean[name], *scores.tp_errors[name].values())
        for name in detection.CLASSES
        if scores.boxes[name]
    )
    table = Table("classes with ground truth", ("class", "boxes", "ap", "ate", "ase", "aoe", "ave", "aae"), rows)
    return Outcome(benchmark, mode, summary, ("mean_ap", "nds", *flat), (table,), _detection_curves(scores))


def _detection_curves(scores: detection.DetectionScores) -> tuple[Curve, ...]:
    recall = np.linspace(0, 1, 101)
    curves = []
    for name in (name for name, count in scores.boxes.items() if count):
        of_class = {limit_m: curve for (label, limit_m), curve in scores.curves.items() if label == name}
        lines = {f"{limit_m:g} m": (recall, curve.precision) for limit_m, curve in of_class.items()}
        curves.append(Curve(f"{name}: precision and recall", "recall", "precision", lines))
        errors = {
            _SHORT[error][1:]: (recall, values)
            for curve in of_class.values()
            if curve.errors and curve.confidence.any()
            for error, values in curve.errors.items()
        }
        if errors:
            curves.append(Curve(f"{name}: mean errors of true positives", "recall", "error", errors))
    return (*curves, *_error_histograms(scores))


def _error_histograms(scores: detection.DetectionScores) -> tuple[Curve, ...]:
    found = {name: errors for name, errors in scores.match_errors.items() if errors.shape[1]}
    if not found:
        return ()
    return tuple(
        histogram(title, label, {name: errors[number] for name, errors in found.items()}, highest=highest)
        for number, (title, label, highest) in enumerate(_HISTOGRAMS)
    )
