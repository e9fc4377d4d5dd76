"""The benchmarks that ``uavsim evaluate`` knows: one row each; other packages add theirs by entry points.

A metric is a function from an ``EvaluationRequest`` to an ``Outcome``; docs/how-to-add-a-metric.md walks through one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Final, TypeAlias

from uavsim.errors import InputError
from uavsim.evaluate.outcome import EvaluationRequest, Outcome
from uavsim.registry import pick

__all__ = ["ENTRY_POINTS", "METRICS", "MODES", "Metric", "evaluate", "metric_names"]

ENTRY_POINTS: Final = "uavsim.metrics"
MODES: Final = {"official": "as the reference code counts", "corrected": "without its errors"}
MetricFunction: TypeAlias = Callable[[EvaluationRequest], Outcome]


@dataclass(frozen=True, slots=True)
class Metric:
    """One benchmark: where its function is, imported when it is asked for; the options that it takes; a line of help."""

    module: str
    function: str
    options: tuple[str, ...]
    help: str

    def load(self) -> MetricFunction:
        """Import the function."""
        found: MetricFunction = getattr(importlib.import_module(f"uavsim.evaluate.{self.module}"), self.function)
        return found


_BOXES: Final = ("range", "max_boxes")
METRICS: Final[dict[str, Metric]] = {
    "nuscenes-detection": Metric("nuscenes_runs", "evaluate_detection", _BOXES, "mAP, NDS and errors, ten classes"),
    "nuscenes-tracking": Metric(
        "nuscenes_runs", "evaluate_tracking", _BOXES, "AMOTA, AMOTP and CLEAR-MOT, seven classes"
    ),
    "uav3d": Metric("uav3d", "evaluate_uav3d", ("max_boxes",), "UAV3D's mAP, NDS of eighths and AP by overlap"),
    "coperception-uav": Metric("coperception", "evaluate_coperception", _BOXES, "Where2comm's AP by overlap"),
    "aot": Metric(
        "aot_run",
        "evaluate_aot",
        ("min_score", "min_track_len", "enc_max_range", "hfar", "fppi"),
        "EDR, HFAR, AFDR, FPPI",
    ),
    "openad": Metric("openad_run", "evaluate_openad", ("dimensions", "similarity"), "AP, AR, ATE, ASE and sub-AR"),
    "aircopbench": Metric("aircopbench_run", "evaluate_aircopbench", ("seed",), "accuracy by task and category"),
    "swarm": Metric(
        "swarm_run",
        "evaluate_swarm",
        (*_BOXES, "against", "min_score", "draws", "seed"),
        "recall and AP by drones that see a box, with intervals",
    ),
    "devkit": Metric(
        "devkit_run", "evaluate_with_devkit", (), "the unmodified nuScenes devkit, in its own environment"
    ),
}


def metric_names() -> list[str]:
    """Return the names of all metrics, ours and other packages'."""
    return [*METRICS, *sorted(entry.name for entry in entry_points(group=ENTRY_POINTS) if entry.name not in METRICS)]


def evaluate(name: str, request: EvaluationRequest) -> Outcome:
    """Run a metric.

    Raises:
        UnknownNameError: no such metric or mode.
        InputError: the request is refused.
    """
    pick(MODES, request.mode, what="mode")
    outside = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in METRICS}
    if name in outside:
        found: MetricFunction = outside[name].load()
        return found(request)
    metric = pick(METRICS | dict.fromkeys(outside, METRICS["swarm"]), name, what="benchmark")
    unknown = sorted(set(request.options) - set(metric.options))
    if unknown:
        raise InputError(f"{name}: no option {unknown[0]!r}; it takes {', '.join(metric.options) or 'none'}")
    if not request.truth.exists():
        raise InputError(f"{request.truth}: no such file or folder")
    if not request.results.exists():
        raise InputError(f"{request.results}: no such file")
    return metric.load()(request)
