"""Registry of the benchmarks of ``uavsim evaluate``; other packages add theirs by entry points.

A metric is a function from an ``EvaluationRequest`` to an ``Outcome``; docs/how-to-add-a-metric.md walks through one.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from uavsim.dataset.collector import collector_paused
from uavsim.errors import InputError
from uavsim.registry import Registry, pick
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest, Outcome

__all__ = ["METRICS", "MODES", "Metric", "evaluate", "lines"]

MODES: Final = {"official": "as the reference code counts", "corrected": "without its errors"}
MetricFunction: TypeAlias = Callable[[EvaluationRequest], Outcome]


@dataclass(frozen=True, slots=True)
class Metric:
    """One benchmark: its function, the names of its options, and a line of help."""

    run: MetricFunction
    options: tuple[str, ...]
    help: str


def _later(module: str, function: str) -> MetricFunction:
    """Return a function that imports its module when called: numba and SciPy import slowly."""

    def run(request: EvaluationRequest) -> Outcome:
        found: MetricFunction = getattr(importlib.import_module(f"uavsim_benchmarks.evaluate.{module}"), function)
        return found(request)

    return run


_BOXES: Final = ("range", "max_boxes", "ignore_regions")
_AOT: Final = ("min_score", "min_track_len", "enc_max_range", "hfar", "fppi")
_OVERLAP: Final = ("range", "max_boxes", "skip_empty", "confidence", "threshold", "channels")
_SWARM: Final = (*_BOXES, "against", "ego", "min_score", "draws", "seed")
METRICS: Final = Registry(
    "metrics",
    {
        "nuscenes-detection": Metric(
            _later("nuscenes.detection_run", "evaluate_detection"), _BOXES, "mAP, NDS and errors, ten classes"
        ),
        "nuscenes-tracking": Metric(
            _later("nuscenes.tracking_run", "evaluate_tracking"), _BOXES, "AMOTA, AMOTP and CLEAR-MOT, seven classes"
        ),
        "uav3d": Metric(
            _later("uav3d", "evaluate_uav3d"),
            ("max_boxes", "ignore_regions"),
            "UAV3D's mAP, NDS of eighths and AP by overlap",
        ),
        "coperception-uav": Metric(
            _later("coperception", "evaluate_coperception"), _OVERLAP, "Where2comm's AP by overlap and what is sent"
        ),
        "aot": Metric(_later("aot.evaluate_aot", "evaluate_aot"), _AOT, "EDR, HFAR, AFDR, FPPI"),
        "openad": Metric(
            _later("openad.evaluate_openad", "evaluate_openad"),
            ("dimensions", "similarity"),
            "AP, AR, ATE, ASE and sub-AR",
        ),
        "aircopbench": Metric(
            _later("aircopbench.evaluate_aircopbench", "evaluate_aircopbench"),
            ("seed",),
            "accuracy by task and category",
        ),
        "swarm": Metric(
            _later("swarm.evaluate_swarm", "evaluate_swarm"),
            _SWARM,
            "recall and AP by drones that see a box, with intervals",
        ),
        "occupancy": Metric(
            _later("occupancy", "evaluate_occupancy"),
            ("mask", "eye"),
            "mIoU and IoU of voxels, as Occ3D's challenge counts; RayIoU, UniOcc's IoU",
        ),
        "devkit": Metric(
            _later("nuscenes.devkit", "evaluate_with_devkit"),
            (),
            "the unmodified nuScenes devkit, in its own environment",
        ),
    },
    what="benchmark",
    expects=Metric,
)


def lines() -> dict[str, str]:
    """Return a line of help for every metric, with the names of its options."""
    metrics = {name: METRICS.pick(name) for name in METRICS.names()}
    return {
        name: one.help + (f"; --option {', '.join(one.options)}" if one.options else "")
        for name, one in metrics.items()
    }


def evaluate(name: str, request: EvaluationRequest) -> Outcome:
    """Run a metric.

    Raises:
        UnknownNameError: no such metric or mode.
        InputError: the request is refused.
    """
    pick(MODES, request.mode, what="mode")
    metric = METRICS.pick(name)
    unknown = sorted(set(request.options) - set(metric.options))
    if unknown:
        raise InputError(f"{name}: no option {unknown[0]!r}; it takes {', '.join(metric.options) or 'none'}")
    for path in (request.truth, request.results):
        if not (path.is_file() or path.is_dir()):  # a FIFO would block
            raise InputError(f"{path}: no such file or folder")
    with collector_paused():
        return metric.run(request)
