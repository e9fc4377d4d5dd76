"""Score nuScenes result files on a data set: ``nuscenes-detection`` and ``nuscenes-tracking``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uavsim.errors import InputError
from uavsim.evaluate import nuscenes_detection as detection
from uavsim.evaluate import nuscenes_tracking as tracking
from uavsim.evaluate.boxes import Boxes
from uavsim.evaluate.frame_check import FrameCheck
from uavsim.evaluate.outcome import Curve, EvaluationRequest, Outcome, Row, Table, histogram
from uavsim.evaluate.ranges import keep_evaluated
from uavsim.evaluate.readers.nuscenes_results import ResultReader
from uavsim.evaluate.readers.nuscenes_truth import Truth, read_truth
from uavsim.evaluate.result_input import WIDE_RANGE_M, only_version, scored_samples
from uavsim.evaluate.scenes import found_by_scene, rows_by_scene
from uavsim.evaluate.tracks import fill_tracks
from uavsim.typing import BoolArray, FloatArray, JsonDict

__all__ = [
    "WIDE_RANGE_M",
    "detection_outcome",
    "evaluate_detection",
    "evaluate_tracking",
    "only_version",
    "scored_samples",
]

_SHORT = {"trans_err": "mate", "scale_err": "mase", "orient_err": "maoe", "vel_err": "mave", "attr_err": "maae"}
_HISTOGRAMS = (
    ("translation errors", "distance of the centres on the ground (m)", 2.0),
    ("scale errors", "1 - overlap of the sizes", 1.0),
    ("orientation errors", "difference of the headings (rad)", float(np.pi)),
    ("velocity errors", "difference of the velocities (m/s), the last bin holds all larger ones", 5.0),
)
_SHOWN = ("gt", "amota", "amotp", "recall", "mota", "motp", "ids", "frag")
_CYCLES = ("bicycle", "motorcycle")


def evaluate_detection(request: EvaluationRequest) -> Outcome:
    """Score detections of all ten classes.

    Raises:
        InputError: the results are refused.
        DatasetError: the data set is damaged.
    """
    config = detection.DetectionConfig()
    config = replace(config, range_m=_ranges(request, config.range_m))
    config = replace(config, max_boxes_per_sample=request.count("max_boxes", config.max_boxes_per_sample))
    truth, reader = _open(request, detection.CLASSES, "detection", config.max_boxes_per_sample)
    limits = np.array([config.range_m[name] for name in detection.CLASSES])
    own = _evaluated(truth.boxes, truth, limits, detection.CLASSES)
    truth = replace(truth, boxes=Boxes.none())  # held once, not twice
    counter = detection.DetectionCounter(config, mode=request.mode)
    check = FrameCheck(own, truth)
    counted = np.zeros(len(truth.samples), bool)
    for block in reader.blocks():
        check.add(block)
        found = _evaluated(block, truth, limits, detection.CLASSES)
        samples = np.unique(block.sample)
        counted[samples] = True
        counter.add(own.take(own.rows_of(samples)), found)
    check.raise_if_wrong(request.results)
    scored = scored_samples(request, truth, reader)
    counter.add(own.take((scored & ~counted)[own.sample]), Boxes.none())
    scores = counter.score()
    told = {"split": request.split, "range_m": config.range_m, "samples": len(reader.seen)}
    return detection_outcome("nuscenes-detection", request.mode, scores, told | {"samples_ignored": reader.ignored})


def evaluate_tracking(request: EvaluationRequest) -> Outcome:
    """Score tracks of all seven classes.

    Raises:
        InputError: the results are refused.
        DatasetError: the data set is damaged.
    """
    config = tracking.TrackingConfig()
    config = replace(config, range_m=_ranges(request, config.range_m))
    config = replace(config, max_boxes_per_sample=request.count("max_boxes", config.max_boxes_per_sample))
    truth, reader = _open(request, tracking.CLASSES, "tracking", config.max_boxes_per_sample)
    if request.mode == "corrected":
        config = replace(config, step_s=_usual_step_s(truth))
    limits = np.array([config.range_m[name] for name in tracking.CLASSES])
    own = _evaluated(truth.boxes, truth, limits, tracking.CLASSES)
    _one_box_an_object(own, truth)
    truth = replace(truth, boxes=Boxes.none())  # held once, not twice
    check = FrameCheck(own, truth)

    def evaluated(block: Boxes) -> Boxes:
        check.add(block)
        return _evaluated(block, truth, limits, tracking.CLASSES)

    def scored() -> BoolArray:
        check.raise_if_wrong(request.results)
        return scored_samples(request, truth, reader)

    rows = rows_by_scene(own, truth.scene)
    when = (truth.scene, truth.place, truth.time_us)
    with tracking.TrackingCounter(config, mode=request.mode) as counter:
        for scene, found in found_by_scene(reader, truth, keep=evaluated, scored=scored):
            counter.add(
                fill_tracks(own.take(rows(scene)), *when, mean_scores=False, mode=request.mode),
                fill_tracks(found, *when, mean_scores=True, mode=request.mode),
            )
        scores = counter.score()
    told = {"split": request.split, "range_m": config.range_m, "samples": len(reader.seen), "step_s": config.step_s}
    return _tracking_outcome(request.mode, scores, told | {"samples_ignored": reader.ignored})


def _ranges(request: EvaluationRequest, official: dict[str, float]) -> dict[str, float]:
    """Return the range of each class: the option's, else the devkit's, which ``corrected`` widens."""
    if "range" in request.options:
        return dict.fromkeys(official, request.number("range", WIDE_RANGE_M))
    return dict.fromkeys(official, WIDE_RANGE_M) if request.mode == "corrected" else official


def _open(request: EvaluationRequest, labels: tuple[str, ...], task: str, max_boxes: int) -> tuple[Truth, ResultReader]:
    version = only_version(request)
    if not request.results.is_file():
        raise InputError(f"{request.results}: no such file")
    truth = read_truth(request.truth, version, labels=labels, split=request.split)
    if not truth.samples:
        raise InputError(f"{request.truth / version}: the split has no samples")
    return truth, ResultReader(request.results, truth.samples, truth.known, labels, task=task, max_boxes=max_boxes)


def _evaluated(boxes: Boxes, truth: Truth, limits: FloatArray, labels: tuple[str, ...]) -> Boxes:
    cycles = np.array([labels.index(name) for name in _CYCLES], dtype=np.int64)
    return keep_evaluated(boxes, truth.ego_m, limits, racks=truth.racks, two_wheelers=cycles)


def _one_box_an_object(boxes: Boxes, truth: Truth) -> None:
    order = np.lexsort((boxes.track, boxes.sample))
    if np.any((np.diff(boxes.sample[order]) == 0) & (np.diff(boxes.track[order]) == 0)):
        raise InputError(f"the data set has an object twice in one sample; {len(truth.samples)} samples were read")


def _usual_step_s(truth: Truth) -> float:
    order = np.lexsort((truth.place, truth.scene))
    same = np.diff(truth.scene[order]) == 0
    steps = np.diff(truth.time_us[order])[same]
    return float(np.median(steps)) * 1e-6 if len(steps) else tracking.TrackingConfig().step_s


def detection_outcome(benchmark: str, mode: str, scores: detection.DetectionScores, told: JsonDict) -> Outcome:
    """Return detection scores under their published names."""
    flat = {_SHORT[name]: value for name, value in scores.mean_tp_errors.items()}
    mean = {name: float(np.mean(list(aps.values()))) for name, aps in scores.aps.items()}
    summary: JsonDict = {
        **told,
        "mean_ap": scores.mean_ap,
        "nds": scores.nds,
        **flat,
        "tp_errors": scores.mean_tp_errors,
        "tp_scores": {name: max(0.0, 1.0 - value) for name, value in scores.mean_tp_errors.items()},
        "label_aps": {name: {str(at): ap for at, ap in aps.items()} for name, aps in scores.aps.items()},
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
        lines = {f"{at:g} m": (recall, curve.precision) for (own, at), curve in scores.curves.items() if own == name}
        curves.append(Curve(f"{name}: precision and recall", "recall", "precision", lines))
        errors = {
            _SHORT[error][1:]: (recall, values)
            for (own, _), curve in scores.curves.items()
            if own == name and curve.errors and curve.confidence.any()
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


def _tracking_outcome(mode: str, scores: tracking.TrackingScores, told: JsonDict) -> Outcome:
    rows: tuple[Row, ...] = tuple(
        (name, *(row[m] for m in _SHOWN)) for name, row in scores.by_class.items() if row["gt"] > 0
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
        {**told, **scores.overall, "label_metrics": labels},
        ("amota", "amotp", "recall", "mota", "motp", "ids", "frag"),
        (Table("classes with ground truth", ("class", *_SHOWN), rows),),
        tuple(curves),
    )
