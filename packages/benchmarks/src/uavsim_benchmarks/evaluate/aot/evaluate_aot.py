"""Score AOT's own files: ``uavsim evaluate aot``."""

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import JsonDict
from uavsim_benchmarks.evaluate.aot.files import read_aot_results, read_aot_truth
from uavsim_benchmarks.evaluate.aot.scores import (
    AotLevels,
    AotPairs,
    AotResults,
    AotScores,
    AotTruth,
    keep_results,
    search_score,
)
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, Table, histogram

_CURVE_POINTS = 40
_RANGE_BINS = 14


def evaluate_aot(request: EvaluationRequest) -> Outcome:
    """Score detections of aircraft in AOT's format.

    Options: ``min_score``, ``min_track_len``, ``enc_max_range`` (700 m), and a budget ``hfar=0.5`` or ``fppi=0.0005`` that
    determines the score threshold.

    Raises:
        InputError: the files are refused.
    """
    budgets = sorted({"hfar", "fppi"} & set(request.options))
    if len(budgets) > 1:
        raise InputError("--option hfar, fppi: mutually exclusive; give one budget")
    truth, images = read_aot_truth(request.truth)
    results = read_aot_results(request.results, images)
    if not len(results.score) and request.mode == "official":
        raise InputError(f"{request.results}: no detections, which the starter kit cannot score; use --mode corrected")
    threshold = request.number("min_score", 0.0)
    results = keep_results(results, truth, min_score=threshold, min_track_length=request.count("min_track_len", 0))
    max_range_m = request.number("enc_max_range", 700.0)
    for target in budgets:
        threshold = search_score(
            truth, results, target=target, value=request.number(target, 0.0), min_score=threshold, mode=request.mode
        )
    levels = AotLevels(truth, results, max_range_m=max_range_m, mode=request.mode)
    scores = levels.scores_at(threshold)
    summary = _summary(scores) | {"images": len(images), "flights": len(truth.flight_hours)}
    rows = tuple((name, *counts, _rate(counts)) for name, counts in scores.edr.items())
    table = Table("encounters detected in time", ("horizon", "detected", "encounters", "edr"), rows)
    curves = (
        *_froc(results, levels),
        *_by_range(truth, results, levels.pairs, threshold=threshold, max_range_m=max_range_m),
    )
    return Outcome("aot", request.mode, summary, ("edr", "hfar", "afdr", "fppi"), (table,), curves)


def _rate(counts: tuple[int, int]) -> float:
    """Return the detected share, NaN without any."""
    return counts[0] / counts[1] if counts[1] else float("nan")


def _summary(scores: AotScores) -> JsonDict:
    summary: JsonDict = {"edr": _rate(scores.edr["all"])}
    summary |= {f"edr_{name}": _rate(counts) for name, counts in scores.edr.items() if name != "all"}
    summary |= {"hfar": scores.hfar, "afdr": _rate(scores.afdr), "fppi": scores.fppi}
    summary |= {"afdr_above_area": _rate(scores.afdr_above_area), "afdr_below_area": _rate(scores.afdr_below_area)}
    counts = {"afdr": scores.afdr, "afdr_above_area": scores.afdr_above_area, "afdr_below_area": scores.afdr_below_area}
    counts |= {f"edr_{name}": pair for name, pair in scores.edr.items()}
    summary["counts"] = {name: {"detected": detected, "total": total} for name, (detected, total) in counts.items()}
    return summary | {"threshold": scores.threshold, "max_range_m": scores.max_range_m}


def _froc(results: AotResults, levels: AotLevels) -> tuple[Curve, ...]:
    """Return AFDR over FPPI and EDR over HFAR at score thresholds."""
    if not len(results.score):
        return ()
    thresholds = np.unique(np.quantile(results.score, np.linspace(0, 1, _CURVE_POINTS)))
    points = [levels.scores_at(threshold) for threshold in thresholds.tolist()]
    afdr = np.array([point.fppi for point in points]), np.array([_rate(point.afdr) for point in points])
    edr = np.array([point.hfar for point in points]), np.array([_rate(point.edr["all"]) for point in points])
    return (
        Curve("FROC: AFDR against false positives an image", "FPPI", "AFDR", {"AFDR": afdr}, log_x=True),
        Curve("FROC: EDR against false alarms an hour", "HFAR", "EDR", {"EDR": edr}, log_x=True),
    )


def _by_range(
    truth: AotTruth, results: AotResults, pairs: AotPairs, *, threshold: float, max_range_m: float
) -> tuple[Curve, ...]:
    """Return the detected share of planned aircraft by range, and histograms of position and size errors."""
    match = pairs.match & (results.score[pairs.found] >= threshold)
    matched = np.zeros(len(truth.image), bool)
    matched[pairs.truth[match]] = True
    planned = (truth.object_ >= 0) & (truth.range_m <= max_range_m)
    if not planned.any():
        return ()
    edges = np.linspace(0.0, max_range_m, _RANGE_BINS + 1)
    total = np.histogram(truth.range_m[planned], edges)[0]
    found = np.histogram(truth.range_m[planned & matched], edges)[0]
    share = np.divide(found, total, out=np.zeros(_RANGE_BINS), where=total > 0)
    true_px, found_px = truth.box_px[pairs.truth[match]], results.box_px[pairs.found[match]]
    offset_px = np.hypot(*(found_px[:, :2] - true_px[:, :2] - true_px[:, 2:] / 2).T)
    with np.errstate(divide="ignore"):
        larger = np.log2(found_px[:, 2:].prod(axis=1) / true_px[:, 2:].prod(axis=1))
    return (
        Curve("planned aircraft by range", "range (m)", "share detected", {"detected": (edges, share)}, steps=True),
        Curve(
            "planned aircraft by range",
            "range (m)",
            "images",
            {"all": (edges, total * 1.0), "detected": (edges, found * 1.0)},
            steps=True,
        ),
        histogram(
            "errors of the place of matches", "distance of the centres (px)", {"matches": offset_px}, highest=20.0
        ),
        histogram(
            "errors of the size of matches",
            "ratio of the areas (factors of 2)",
            {"matches": np.abs(larger)},
            highest=4.0,
        ),
    )
